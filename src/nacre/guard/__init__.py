"""Judging a script before it runs: rules over the commands that `nacre.bash` found.

Pure, like the reading below it. The one entry is `review`; it never raises and never lets a script pass that it
could not check.
"""
