"""Try: a command runs on an overlay of its workspace, and what it changed is committed or discarded afterwards.

`try_store` keeps the tries of a state directory; `overlay_changes` reads from an overlay what was added, modified and
deleted; `committing` carries that over to the workspace, or throws it away; `report` spells it.
"""
