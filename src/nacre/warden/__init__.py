"""The far side: the small processes that start commands, contain them and outlive the caller.

Standard library of Python 3.9 only, and nothing outside this folder. In reading order: protocol (every message), zygote
(forks runners), runner (serves one caller), start and launch (from a request to a shell), supervisor (watches a
command), orders (what its caller asks), stop_ladder, keeping and keepers (jobs), record (what became of a job),
spare_shell (a shell started in advance), remote_service (a near side on another machine).
"""
