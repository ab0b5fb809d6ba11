"""The far side: the small processes that start commands, contain them and outlive the caller.

Stdlib only, and importable under `python -I -S`: of the rest of nacre only the redactor, which is made for that, and no
third-party package.
zygote forks runners · runner owns one command at a time · watch starts a job and copies its output · children knows
the process tree · job keeps a command's output and final status on disk · record is the file that says what became of
a job · wire is the frames between.
"""
