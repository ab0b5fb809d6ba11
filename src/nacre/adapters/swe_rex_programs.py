"""The interactive programs of swe-rex sessions: at most one per session, each on a terminal of its own."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence

from nacre.adapters.framework import framework
from nacre.adapters.program import NO_LIMIT_SECONDS
from nacre.adapters.relayed_terminal import INTERRUPT, Met, TerminalProgram
from nacre.api import Session
from nacre.errors import RefusedError
from nacre.output.escapes import strip
from nacre.settings import MIB

with framework("swe-rex"):
    from swerex.exceptions import CommandTimeoutError, NoExitCodeError
    from swerex.runtime.abstract import BashAction, BashInterruptAction, BashObservation

# The newest output of an interrupted command, and of a program between two answers; the artifact has all of it.
NEWEST_CHARACTERS = 50 * 1024
SHOWN_CHARACTERS = 4 * MIB
# The exit codes of `nacre run` for a denied command, and of a shell for an interrupted one.
DENIED, INTERRUPTED = 126, 130

Patterns = Sequence[re.Pattern[str]]


class Programs:
    """The running programs, by the name of their session."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._programs: dict[str, TerminalProgram] = {}

    def running(self, session: str) -> TerminalProgram | None:
        """Return the program on the terminal of this session."""
        program = self._programs.get(session)
        if program is None or program.running:
            return program
        del self._programs[session]
        self._logger.info("%s ended; it showed: %s", program.command, program.unread()[-NEWEST_CHARACTERS:])
        return None

    async def start(self, session: Session, action: BashAction, expected: Patterns) -> BashObservation:
        """Start a program, and wait for an expected text or its end."""
        program = TerminalProgram(session, action.command, timeout=NO_LIMIT_SECONDS, most_characters=SHOWN_CHARACTERS)
        self._programs[action.session] = program
        return await self.wait(program, action, expected)

    async def wait(self, program: TerminalProgram, action: BashAction, expected: Patterns) -> BashObservation:
        """Wait for an expected text or the end of the program; after a timeout the program goes on."""
        try:
            met = await program.wait_for(expected, action.timeout)
        except asyncio.CancelledError:
            await self.end(action.session)
            raise
        if met is None:
            raise CommandTimeoutError(
                f"timeout after {action.timeout} seconds while running command {action.command!r}; "
                f"{program.command!r} runs on"
            )
        output = plain(met.before).strip()
        if action.is_interactive_command:
            # Programs with line editing echo the typed command.
            output = output.removeprefix(action.command.strip()).strip()
        if met.pattern is not None:
            goes_on = action.is_interactive_command or action.is_interactive_quit
            if not goes_on and action.check == "raise":
                raise NoExitCodeError(f"{program.command!r} runs on after {met.pattern!r}: it has no exit code yet")
            return BashObservation(output=output, exit_code=0 if goes_on else None, expect_string=met.pattern)
        self._programs.pop(action.session, None)
        if program.was_ended:
            return BashObservation(output=output, exit_code=INTERRUPTED, failure_reason="interrupted")
        try:
            result = program.result()
        except RefusedError as error:
            return refused(error)
        for notice in result.notices:
            self._logger.info("%s: %s", result.command, notice)
        return BashObservation(output=output, exit_code=None if action.check == "ignore" else result.exit_code)

    async def interrupt(
        self, program: TerminalProgram, action: BashInterruptAction, expected: Patterns
    ) -> BashObservation:
        """Type Ctrl-C; end a program that neither ends nor shows an expected text."""
        met: Met | None = None
        for _ in range(action.n_retry):
            program.type(INTERRUPT)
            met = await program.wait_for(expected, action.timeout)
            if met is not None:
                break
        if met is None:
            met = Met(await program.end(), None)
        if met.pattern is None:
            self._programs.pop(action.session, None)
        return BashObservation(output=plain(met.before).strip(), exit_code=0, expect_string=met.pattern or "")

    async def end(self, session: str) -> None:
        """End the program of a session, if there is one."""
        if (program := self._programs.pop(session, None)) is not None:
            await program.end()


def plain(text: str) -> str:
    """Remove terminal control and carriage returns from a text."""
    return strip(text.replace("\r\n", "\n"))


def refused(error: RefusedError) -> BashObservation:
    """Answer a command that the guard refused."""
    return BashObservation(output=f"{error}\n", exit_code=DENIED, failure_reason=str(error))
