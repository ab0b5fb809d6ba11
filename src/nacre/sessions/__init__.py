"""Persistent shells: one real bash runs the commands of a session, one turn after the other.

Reading order: `session` (the order of the commands) · `turn` and `turn_spec` (one command) · `session_shell` (the
current bash, and its renewal) · `remembered_state` and `lost_shell` (what outlives it) · `live_bash`, `bash_process`,
`framing` and `shell_loop` (one live bash, its reports, the texts that it runs) · `checkpoint`, `state_safety`,
`exit_traps` and `exit_saver` (its state, and which scripts change it) · `pipe_switch` · `rc_file` · `open_sessions`.
"""
