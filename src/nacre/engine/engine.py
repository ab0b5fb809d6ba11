"""The engine: one configuration, and everything of it that lives longer than a call.

`execute` runs a call with it. It knows no contract, only a contract's profile.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import replace

from nacre import config, place
from nacre.artifacts.store import ArtifactStore
from nacre.backend import Backend
from nacre.backends.contained import ContainedBackend
from nacre.engine.call_log import CallLog
from nacre.engine.planner import Planner, ProcessEnvironment, environment
from nacre.errors import ArtifactError, BackendUnavailableError, InvalidRequestError, shown
from nacre.guard.approval import Approver
from nacre.output.redaction.redactor import Redactor
from nacre.planning.plan import redactor_for
from nacre.profile import Profile
from nacre.request import Ground, ShellRequest
from nacre.settings import Settings
from nacre.warden_client.pool import unsupported_reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.engine.confining import Confining
    from nacre.jobs.table import JobTable
    from nacre.sessions.open_sessions import OpenSessions
    from nacre.sessions.session import ShellSession

# How long the artifact store may grow before its age and size are looked at again.
PRUNE_SECONDS = 600.0


class Engine:
    """Runs commands on this machine with one configuration."""

    def __init__(
        self,
        settings: Settings,
        state_dir: str,
        *,
        environ: Mapping[str, str] | None = None,
        approver: Approver | None = None,
        backend: Backend | None = None,
    ) -> None:
        self.settings = settings
        self.state_dir = state_dir
        self.artifacts = ArtifactStore(os.path.join(state_dir, "artifacts"))
        self.log = CallLog(state_dir, cap_bytes=settings.log.log_cap_bytes, redactor=lambda: self.redactor)
        self.confining: Confining | None = None
        if settings.sandbox.mode != "off":
            # Most programs confine nothing.
            from nacre.engine.confining import Confining

            self.confining = Confining(settings.sandbox, state_dir, environ, elsewhere=backend is not None)
        self.planner = Planner(settings, self.log, environ=environ, approver=approver, confining=self.confining)
        self.notices = SettingsNotices(settings.notices)
        self.has_own_backend = backend is not None
        """True if commands run where the program says, so that there is no fallback."""
        self.has_no_jobs = backend is not None and not backend.keeps
        """True if no command can go on in the background there."""
        self.has_no_shells = backend is not None and not getattr(backend, "has_shells", False)
        """True if each command has a shell of its own there."""
        self.remote = place.environ_of(backend) is not None
        """True if commands run on another machine."""
        self._backends: dict[bool, Backend] = {} if backend is None else dict.fromkeys((True, False), backend)
        self._prune_at = 0.0
        self._reads_rc = False
        self._jobs: JobTable | None = None
        self._pool: OpenSessions | None = None

    # Not functools.cached_property: before Python 3.12 it has a lock, which a fork would find taken.

    @property
    def jobs(self) -> JobTable:
        if self._jobs is None:
            # Most calls never need it, and it takes a fifth of the time to load the engine.
            from nacre.jobs.table import JobTable

            self._jobs = JobTable(self.state_dir)
        return self._jobs

    @property
    def redactor(self) -> Redactor:
        """Knows the values that this program's environment hides from commands."""
        return redactor_for(self.planner.environment.values, self.settings)

    # Sessions.

    def session(self, key: str, *, cwd: str, with_rc: bool = False) -> ShellSession:
        """The session of this key; a new one begins in `cwd`, with the user's rc where the contract has that."""
        if self._pool is None:
            from nacre.sessions.open_sessions import OpenSessions

            settings = self.settings.sessions
            self._pool = OpenSessions(most=settings.most, idle_seconds=settings.idle_seconds)
        # The rc that is read is this machine's.
        with_rc = with_rc and self.settings.shell.snapshot and not self.has_own_backend
        there = getattr(self._backends.get(True), "shells_for", None) if self.has_own_backend else None
        return self._pool.session(key, cwd=cwd, with_rc=with_rc, start=there and there(key))

    def known_session(self, key: str) -> ShellSession | None:
        return None if self._pool is None else self._pool.known(key)

    def end_session(self, key: str) -> None:
        self.notices.forget(key)
        if self.confining is not None:
            self.confining.forget(key)
        if self._pool is not None:
            self._pool.end(key)

    def read_rc_early(self, profile: Profile) -> None:
        """Begin to read the user's rc where a session will begin with it, so that its first command seldom waits."""
        if profile.sources_rc and self.settings.shell.snapshot and not self.has_own_backend:
            from nacre.sessions.rc_file import start_reading

            self._reads_rc = True
            request = ShellRequest(command=":", ground=Ground(config.working_directory(), "rc"))
            start_reading(self.planner.plan(request, profile, cwd="/").command)

    # Where commands run.

    def backend_for(self, profile: Profile) -> Backend:
        """Where the command runs; the mark of the fallback would be seen in an inherited environment."""
        mark = profile.environment != "inherited"
        known = self._backends.get(mark)
        if known is None:
            known = self._backends[mark] = self._choose_backend(mark=mark)
        return known

    def _choose_backend(self, *, mark: bool) -> Backend:
        wanted = self.settings.execution.containment
        reason = "switched off by setting" if wanted == "off" else unsupported_reason()
        if reason is None:
            return ContainedBackend(spares=self.settings.execution.spares)
        if wanted == "required":
            raise BackendUnavailableError(f"containment is required and cannot be had: {reason}")
        return _direct(reason, mark=mark)

    def fallback_for(self, profile: Profile, error: BackendUnavailableError) -> Backend | None:
        """Where the command runs although the warden is unavailable; None where it must not, or has not asked for one.

        It says in every result what it cannot promise.
        """
        contained = not self.has_own_backend and self.backend_for(profile).keeps
        if self.settings.execution.containment != "auto" or not contained:
            return None
        return _direct(str(error), mark=profile.environment != "inherited")

    def prune_artifacts(self) -> None:
        """Hold the store to its age and size: when it has grown, but seldom, because every artifact is looked at."""
        now = time.monotonic()
        if now < self._prune_at:
            return
        self._prune_at = now + PRUNE_SECONDS
        settings = self.settings.output
        # What cannot be removed now is removed by a later look; the command is not concerned.
        with contextlib.suppress(ArtifactError):
            self.artifacts.prune(
                max_age_seconds=settings.artifact_days * 86400, max_total_bytes=settings.artifact_store_bytes
            )

    def close(self) -> None:
        """Give back what the engine holds open; it may be used again."""
        if self._pool is not None:
            self._pool.close()
        if self.confining is not None:
            self.confining.close()
        if self._reads_rc:
            from nacre.sessions.rc_file import forget_readings

            forget_readings()
        self.log.close()


def has_shells(engine: Engine, profile: Profile) -> bool:
    """Whether a session can have a shell where commands of this profile run."""
    return not engine.has_no_shells and engine.backend_for(profile).keeps


class SettingsNotices:
    """What is wrong with the settings, told once in each session."""

    def __init__(self, notices: tuple[str, ...]) -> None:
        self.notices = notices
        self._told: set[str] = set()

    def add(self, request: ShellRequest, key: str) -> ShellRequest:
        """The request with the notices, if its session has not read them yet."""
        if not self.notices or key in self._told:
            return request
        return replace(request, notices=(*request.notices, *self.notices))

    def told(self, key: str) -> None:
        """Record that a result of this session has carried the notices."""
        if self.notices:
            self._told.add(key)

    def forget(self, key: str) -> None:
        self._told.discard(key)


def _direct(reason: str, *, mark: bool) -> Backend:
    from nacre.backends.direct import DirectBackend

    return DirectBackend(reason, mark=mark)


# Building an engine reads files; a program makes thousands of calls with the same few configurations.
_engines: dict[tuple[object, ...], Engine] = {}
_MOST_ENGINES = 64


def from_environment(
    *,
    settings: Settings | None = None,
    approver: Approver | None = None,
    backend: Backend | None = None,
    environ: ProcessEnvironment | None = None,
) -> Engine:
    """The engine that this process's environment and files describe, as they are now.

    The project is where the program runs: the directory of a tool belongs to its agent, and may not even answer.

    Args:
        backend: where commands run, if not on this machine as the settings say.
        environ: the environment now, where the caller has it.
    """
    if environ is None:
        environ = environment()
    if backend is None:
        backend = place.chosen
    files = config.file_stamps(environ.values, config.working_directory()) if settings is None else None
    # A backend may not be hashable; the engine holds it, so that its id stays its own.
    owner = None if backend is None else id(backend)
    key = (environ.generation, settings, None if approver is None else _key_of(approver), owner, files)
    known = _engines.get(key)
    if known is None:
        if backend is not None and not hasattr(backend, "start"):
            raise InvalidRequestError(
                f"backend must be an object with a method start, got {shown(backend)}; `await nacre.connect(…)` makes "
                "one of the name of a place, such as docker:NAME",
                field="backend",
            )
        if len(_engines) >= _MOST_ENGINES:
            forget_engines()
        if settings is None:
            loaded = config.load(environ.values, cwd=config.working_directory())
            settings, state_dir = loaded.settings, loaded.state_dir
        else:
            state_dir = config.state_dir(environ.values)
        # Two threads that come at once use the engine of the first: another would keep a log open
        # that is never closed.
        known = _engines.setdefault(
            key, Engine(settings, state_dir, environ=place.environ_of(backend), approver=approver, backend=backend)
        )
    return known


def _key_of(approver: Approver) -> object:
    """What tells one approver from another: itself, or its identity where it has no hash."""
    try:
        hash(approver)
    except TypeError:
        # Its engine holds it, so no other object gets this number while the engine is remembered.
        return id(approver)
    return approver


def forget_engines() -> None:
    """Give back what the remembered engines hold open."""
    for engine in _engines.values():
        engine.close()
    _engines.clear()
