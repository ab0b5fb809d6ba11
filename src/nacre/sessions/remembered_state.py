"""What outlives the shells of a session: the last checkpoint, and what the next result says about it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace

from nacre.sessions.checkpoint import MOST_BYTES, Checkpoint, action_of, read_beginning, read_dump
from nacre.sessions.lost_shell import BEFORE_LAST, IN_PART, RESTORED, TOO_LARGE, WITHOUT_VARIABLES
from nacre.sessions.shell_loop import GUARDED
from nacre.sessions.turn_spec import TurnSpec

# A longer dump is not read.
MOST_DUMP_BYTES = 16 * MOST_BYTES


class RememberedState:
    def __init__(self, cwd: str) -> None:
        self.cwd = cwd
        """The directory of the shell."""
        self.code = 0
        """The exit code of the last command."""
        self.debug = ""
        """The DEBUG trap of scripts, which the shell has only while it runs one."""
        self.checkpoint: Checkpoint | None = None
        self.rc: Checkpoint | None = None
        """What the user's rc defines: the state before the first command."""
        self.kept = RESTORED
        """What a shell that is restored from the checkpoint has, as a part of a notice."""
        self.notices: list[str] = []
        """What the next result says."""

    def keep_dump(self, data: bytes) -> None:
        """Take the state that a shell has written."""
        state = read_dump(data)
        if state is None:
            self.keep_beginning(data)
        else:
            self._keep(state, len(data))

    def keep_beginning(self, data: bytes) -> None:
        """Take what can be used of a state that is not whole."""
        state = read_beginning(data[: MOST_BYTES + 1], self.checkpoint)
        if state is None:
            self.kept = BEFORE_LAST
        else:
            self.checkpoint = state
            self.kept = WITHOUT_VARIABLES

    def keep_exit(self, data: bytes, spec: TurnSpec) -> bool:
        """Take the state that a shell has written when the script of this turn ended it; False if there is none."""
        _, debug, dump = [*data.split(b"\0", 2), b"", b""][:3]
        state = read_dump(dump)
        if state is None:
            return False
        if spec.back is not None:
            state = replace(state, directory=spec.back)
        if spec.env:
            state = state.with_variables_of(self.checkpoint, spec.env)
        if spec.prologue:
            state = state.with_functions_of(self.checkpoint, GUARDED.split())
        with contextlib.suppress(ValueError):
            self.debug = action_of(debug.decode("utf-8", "surrogateescape"), "DEBUG")
        self._keep(state, len(dump))
        return True

    def _keep(self, state: Checkpoint, size: int) -> None:
        self.kept = RESTORED
        if size > MOST_BYTES:
            state = state.exports()
            self.kept = IN_PART
            self.notices.append(TOO_LARGE)
        self.checkpoint = state

    def forget(self) -> None:
        """Forget the shell's state, but not what the rc defines."""
        self.checkpoint = None
        self.debug = ""
        self.code = 0

    def restoring(self, env: Mapping[str, str]) -> tuple[str, ...]:
        """The texts that restore the state in a fresh bash with this environment."""
        if self.checkpoint is not None:
            return self.checkpoint.restoring(env)
        return () if self.rc is None else self.rc.restoring({})
