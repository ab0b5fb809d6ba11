"""Persistent shells: one real bash runs the commands of a session, one turn after the other.

`session` owns the state that outlives a shell; `turn` is one command in the shell; `bash_process` is one live bash, and
`shell_loop` has the bash texts that it runs; `framing` reads its reports. `checkpoint` is a shell's state as a value,
which the guard reads too; `state_safety` and `exit_traps` say what a script does to it. `rc_file` reads the user's
~/.bashrc. `open_sessions` holds the sessions of one engine.
"""
