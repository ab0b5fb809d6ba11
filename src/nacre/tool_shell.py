"""The persistent shell of a tool, where its contract has one."""

from __future__ import annotations

import itertools
import weakref
from typing import TYPE_CHECKING, Literal

from nacre.engine.engine import Engine, has_shells
from nacre.jobs.ownership import named_session, own_session
from nacre.profile import Profile
from nacre.request import Ground

if TYPE_CHECKING:
    from nacre.sessions.session import ShellSession

# Tools without a session of a name have one of their own.
_numbers = itertools.count(1)


class ToolShell:
    """Which session a tool's commands run in, and how long its shell lives.

    Tools of one name share a session, which outlives them. A tool without a name has a session of its own, whose shell
    ends with the tool and with those that share it.
    """

    def __init__(self, name: str | Literal[False] | None, *, here: bool) -> None:
        """Choose the session.

        Args:
            name: the session's; None for one of the tool's own, False for none.
            here: whether commands run on this machine's side; a state that only the few commands share which cannot
                run in a client's terminal would confuse.
        """
        self.name = name
        self.key = f"named {name}" if isinstance(name, str) else f"of tool {next(_numbers)}"
        self.last: ShellSession | None = None
        """The session of the last call."""
        self._here = here
        self._host: ToolShell | None = None
        self._ending: weakref.finalize[..., ToolShell] | None = None

    def shared(self) -> ToolShell:
        """Return the same shell for another tool; it lives as long as one of the two."""
        other = ToolShell(self.name, here=self._here)
        other._host, other.key = self, self.key
        return other

    def owner(self, *, companion: bool) -> str | None:
        """Return the session whose jobs are the tool's; a companion without the name of a session has none."""
        if isinstance(self.name, str):
            return named_session(self.name)
        return None if companion else own_session(self.key)

    def ground(self, directory: str) -> Ground:
        """Where commands may write in a sandbox: not where the session has gone."""
        return Ground(directory, self.key)

    def persists(self, engine: Engine, profile: Profile) -> bool:
        """Whether commands share a shell: the contract has that, it is wanted, and it can be had."""
        if self.name is False or not (profile.persists and engine.settings.sessions.persist):
            return False
        return self._here and has_shells(engine, profile)

    def session(self, engine: Engine, profile: Profile, cwd: str) -> ShellSession | None:
        """Return the session that the next command runs in; None if it has a shell of its own."""
        if not self.persists(engine, profile):
            return None
        if self.name is None and self._host is None and self._ending is None:
            # A tool that is dropped without being closed ends its shell.
            self._ending = weakref.finalize(self, engine.end_session, self.key)
            self._ending.atexit = False
        self.last = engine.session(self.key, cwd=cwd, with_rc=profile.sources_rc)
        if not self.last.alive:
            engine.read_rc_early(profile)
        return self.last

    def cwd(self, engine: Engine) -> str | None:
        """Return the session's directory; None before its first command."""
        session = engine.known_session(self.key)
        return None if session is None else session.cwd

    def restart(self, engine: Engine) -> None:
        """End the shell; the next command begins a new one."""
        session = engine.known_session(self.key)
        if session is not None:
            session.restart()

    def close(self) -> None:
        """End a shell of the tool's own."""
        if self._ending is not None:
            self._ending()
            self._ending = None
        self.last = None
