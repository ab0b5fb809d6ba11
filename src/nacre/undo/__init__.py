"""Undo: what a destructive command would destroy is saved before it starts, and can be restored afterwards.

`destruction` reads a command and names what it would destroy; `saving` keeps that; `recorder` is the engine's way in;
`restoring` compares what was, what the command left and what is there now, and restores only what the command changed.
"""
