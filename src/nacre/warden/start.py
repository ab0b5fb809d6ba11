"""From a request to a running shell: what can be made ready beforehand, and the start itself.

The first half may run in the zygote, before its runner is forked, so nothing in it may take long or fail for others:
the directory, which may not even answer, is entered by the runner.
"""

from __future__ import annotations

import errno
import os
import signal

from nacre.warden import children, launch, protocol, spare_shell
from nacre.warden.start_actions import apply_actions, ignored_signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

    from nacre.warden.channel import Channel
    from nacre.warden.messages import Limits, StartJob, StartRun, WaitSession, WaitSpare
    from nacre.warden.placing import Cells

    Startable = StartRun | StartJob | WaitSpare | WaitSession


class Start:
    """One request and what came with it.

    Its methods are the steps from a request to a running shell, each with what it must give back if the next one fails.
    """

    __slots__ = (
        "_actions",
        "_channel",
        "_env",
        "_fds",
        "_launch",
        "_scripts",
        "_socket",
        "leader",
        "request",
        "stop_requested",
    )

    def __init__(self, channel: Channel, request: Startable, fds: list[int], env: dict[bytes, bytes]) -> None:
        self.request = request
        self.leader = 0
        self.stop_requested: str | None = None
        self._channel = channel
        self._fds = fds
        """What came with the request, until the shell has it."""
        self._env = env
        self._actions: list[launch.FileAction] = []
        self._launch: launch.Launch | None = None
        self._scripts: int | None = None
        """The file that a session's scripts come in, where its shell leaves notes at its exit."""
        self._socket: int | None = None
        """The caller's end of the socket to a session's shell, held so that the shell never writes to a closed one."""

    @classmethod
    def over(cls, channel: Channel, request: StartJob, leader: int, notes_fd: int | None) -> Start:
        """The start of a job's shell, which the job's own child has made."""
        start = cls(channel, request, [], {})
        start.leader = leader
        start._launch = launch.Launch(request["shell"])
        start._launch.notes_fd = notes_fd
        return start

    def request_stop(self, why: str) -> None:
        """Remember it for the supervisor: from a signal handler, while the shell starts."""
        self.stop_requested = why

    @property
    def is_spare(self) -> bool:
        return self.request["op"] == "spare"

    @property
    def outlives(self) -> bool:
        """Whether it goes on, within its limits, when its caller is gone."""
        return "outlives" in self.request

    @property
    def _is_session(self) -> bool:
        return self.request["op"] == "session"

    @property
    def waits(self) -> bool:
        """Whether the shell waits for its script, and for its limits: one started in advance, or a session's."""
        return self.is_spare or self._is_session

    def prepare(self) -> bool:
        """Make ready what the start needs; on failure say why, and give everything back."""
        request = self.request
        try:
            prepared = self._launch = (
                spare_shell.prepare(request["shell"], self._env)
                if request["op"] == "spare"
                else launch.prepare_request(request)
            )
        except (OSError, ValueError) as error:
            self._failed("descriptors", error)
            return False
        self._actions = launch.file_actions(prepared, self._fds, request)
        self._env = launch.environment(prepared, self._env, request)
        if self.waits:
            go, text, *_ = self._ends()
            self._actions += [
                (os.POSIX_SPAWN_DUP2, go, protocol.GO_FD),
                (os.POSIX_SPAWN_DUP2, text, protocol.TEXT_FD),
            ]
        if self.is_spare:
            # The first variable lies right behind the arguments.
            self._env = {os.fsencode(spare_shell.ROOM): b"." * spare_shell.ROOM_BYTES, **self._env}
        return True

    def _ends(self) -> list[int]:
        """Of a shell that waits: its end of the socket, the file that its script comes in; of a session's one more."""
        return self._fds[self.request["outputs"] + ("side" in self.request) :]

    def spawn(self, cells: Cells | None = None) -> bool:
        """Start what was prepared; on failure say at which step and why, and give everything back.

        Args:
            cells: the sandbox of this runner, if the request names one.
        """
        prepared = self._launch
        assert prepared is not None
        step = "cwd"
        try:
            if cells is None:
                os.chdir(self.request["cwd"])
            if self._channel.gone():
                # A hung file system can hold us until the caller has been told that nothing was started.
                raise ConnectionAbortedError
            step = "shell"
            forks = self._is_session or "budget" in self.request
            if cells is not None:
                self.leader = self._place_shell(prepared, cells)
            else:
                self.leader = self._fork_shell(prepared) if forks else self._spawn_shell(prepared)
            if self.is_spare:
                step = "spare"
                self._offer(prepared, None if cells is None else cells.orphans)
        except (OSError, ValueError) as error:
            self._failed(getattr(error, "step", step), error)
            return False
        if self._is_session:
            _, self._scripts, self._socket = self._ends()
            self._fds = [fd for fd in self._fds if fd not in (self._scripts, self._socket)]
        self._give_back()
        prepared.close_inherited()
        return True

    def _spawn_shell(self, prepared: launch.Launch) -> int:
        return os.posix_spawn(
            prepared.path,
            prepared.argv,
            self._env,
            file_actions=self._actions,
            setsid=True,
            setsigmask=(),
            setsigdef=ignored_signals(),
        )

    def _fork_shell(self, prepared: launch.Launch) -> int:
        """Start a shell that dies with this process; posix_spawn, which is quicker, cannot do that."""
        reader, writer = os.pipe()
        runner = os.getpid()
        try:
            leader = os.fork()
            if leader == 0:
                try:
                    children.die_with_parent(runner)
                    if "budget" in self.request:
                        limit_shell(self.request["budget"], runner=runner, lives_on=self._is_session)
                    become_shell(prepared, self._actions, self._env)
                except OSError as error:
                    os.write(writer, str(error.errno or errno.EIO).encode())
                finally:
                    os._exit(1)
            os.close(writer)
            writer = -1
            # The child's end closes at the exec.
            if failure := os.read(reader, 16):
                os.waitpid(leader, 0)
                raise OSError(int(failure), os.strerror(int(failure)))
        finally:
            os.close(reader)
            if writer >= 0:
                os.close(writer)
        return leader

    def _place_shell(self, prepared: launch.Launch, cells: Cells) -> int:
        # Loaded by the runners that have a sandbox.
        from nacre.warden.placing import place

        terminal = os.ttyname(self._fds[0]) if "terminal" in self.request else None
        cell = cells.cell_for(self.request["sandbox"], terminal, self.request.get("overlay"))
        # The child that enters the sandbox ends at once; a runner that watches a spare must not wake for that.
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD,))
        try:
            leader = place(prepared, self._actions, self._env, self.request, cell)
        finally:
            signal.sigtimedwait((signal.SIGCHLD,), 0)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGCHLD,))
        if self._is_session:
            self._channel.send(protocol.placed(pid=leader, runner=os.getpid(), cell=children.cell))
        return leader

    def _offer(self, prepared: launch.Launch, orphans: int | None = None) -> None:
        """Hand the caller the ways to a spare; one that cannot be reached is of no use."""
        try:
            handles, at = spare_shell.open_handles(self.leader, prepared.notes_fd, orphans)
        except OSError:
            os.kill(self.leader, signal.SIGKILL)
            os.waitpid(self.leader, 0)
            raise
        try:
            self._channel.send(protocol.spare(pid=self.leader, at=at, notes=prepared.inherited[0]), handles)
        finally:
            for fd in handles[: spare_shell.OPENED]:
                os.close(fd)

    def _failed(self, step: str, error: OSError | ValueError) -> None:
        self.close()
        self._channel.send(protocol.failed(step, error))

    @property
    def has_notes(self) -> bool:
        return self._scripts is not None or (self._launch is not None and self._launch.notes_fd is not None)

    def notes(self) -> launch.Notes | None:
        """What the shell has left about itself, where it was asked to."""
        if self._scripts is not None:
            return launch.read_late_notes(self._scripts)
        if self._launch is not None and self._launch.notes_fd is not None:
            return launch.read_notes(self._launch.notes_fd)
        return None

    def close(self) -> None:
        """Give back every descriptor."""
        if self._scripts is not None and self._socket is not None:
            os.close(self._scripts)
            os.close(self._socket)
            self._scripts = self._socket = None
        if self._launch is not None:
            self._launch.close()
            self._launch = None
        self._give_back()

    def _give_back(self) -> None:
        for fd in self._fds:
            os.close(fd)
        self._fds = []


def limit_shell(limits: Limits, *, runner: int, lives_on: bool = False) -> None:
    """In a forked child: hold it to its budget. Raises OSError."""
    # Loaded for the commands that have one, in a child that is about to be another program.
    from nacre.warden import budget_watch

    budget_watch.limit_shell(limits, runner=runner, lives_on=lives_on)


def become_shell(prepared: launch.Launch, actions: list[launch.FileAction], env: Mapping[bytes, bytes]) -> NoReturn:
    """In a forked child: what posix_spawn does for others. Raises OSError when the shell cannot be started."""
    os.setsid()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in ignored_signals():
        signal.signal(number, signal.SIG_DFL)
    apply_actions(actions)
    os.execve(prepared.path, prepared.argv, env)
