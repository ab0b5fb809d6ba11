"""Tries whether a bash can be started in advance: it runs a known script, and no call waits for it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace

from nacre.command import Command
from nacre.warden.protocol import READ_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.backends.spare_shells import Spare

# How long a spare may take to be there.
TRIAL_SECONDS = 5.0
DOES_NOT_WAIT = "the shell does not wait for its script; bash does, from 4.4 on"
# What a bash runs that was never tried, how it must end, and what it must print.
TRIAL_CODE = 23
TRIAL_SCRIPT = f"""printf '%s %s %s\\n' "$0" "$#" "${{#BASH_EXECUTION_STRING}}"
cat <<'END'
the script stands where -c had another
END
(exit {TRIAL_CODE})"""
DIFFERS = "a script that was written over the string after -c did not run as it should: this bash works in another way"


class Trial:
    """The first spare of a bash that was never tried: it runs a known script, and no call has it."""

    def __init__(self, command: Command, start: Callable[[Command], Spare]) -> None:
        self.reason: str | None = None
        """Why this bash has no spares, once `step` has said that the trial is over."""
        self._command = replace(command, script=TRIAL_SCRIPT, prologue="", stages=False)
        self._spare = start(self._command)
        self._until = time.monotonic() + TRIAL_SECONDS
        self._runs = False

    def step(self) -> bool:
        """Go on with the trial, without waiting; True when it is over."""
        if not self._runs:
            usable = self._spare.look()
            if usable is False:
                return self._is_late("it did not get ready")
            self._runs = bool(usable) and self._spare.run(self._command)
            if not self._runs:
                self.reason = self._spare.refusal or "it ended before it had a script"
                return True
        code = self._spare.code_within(0)
        if code is None:
            return self._is_late(DIFFERS)
        try:
            written = os.read(self._spare.readers[0], READ_BYTES)
        except BlockingIOError:
            written = b""
        name = os.path.basename(self._command.shell)
        expected = f"{name} 0 {len(TRIAL_SCRIPT)}\nthe script stands where -c had another\n".encode()
        if code != TRIAL_CODE or written != expected:
            self.reason = DIFFERS
        return True

    def _is_late(self, reason: str) -> bool:
        if time.monotonic() < self._until:
            return False
        self.reason = reason
        return True

    def close(self) -> None:
        self._spare.close()
