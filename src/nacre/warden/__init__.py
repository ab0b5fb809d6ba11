"""The far side: the small processes that start commands, contain them and outlive the caller.

Stdlib only, and importable under `python -I -S`: nothing here may import the rest of nacre or a third-party package.
zygote forks runners · runner owns one command at a time · children knows the process tree · job keeps a command's
output and final status on disk · record is the file that says what became of a job · wire is the frames between.
"""
