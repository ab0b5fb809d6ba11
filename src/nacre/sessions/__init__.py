"""Persistent shells: one real bash that runs the commands of a session, one turn after the other.

bootstrap and checkpoint are the bash texts · framing reads what the shell says · shell is one live bash · turn is a
command in it · session outlives its shells · pool holds the sessions of an engine · snapshot reads the user's rc.
"""
