"""A real sshd on loopback for a test: keys, port and files of its own; it ends with the test."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Self

import pytest

PATIENCE_SECONDS = 30.0


# A user that no machine has: the server sees a list of users of its own.
PLAIN_USER = "nacre-plain"
PLAIN_UID = 54321


class Sshd:
    """Serves one user by one key: the user who runs the tests, or a plain one."""

    def __init__(self, directory: Path, *, plain: bool = False, settings: str = "") -> None:
        """With more lines for its configuration."""
        program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
        if program is None or shutil.which("ssh-keygen") is None:
            pytest.skip("sshd is not installed: .ci/parts")
        if os.geteuid() != 0:
            pytest.skip("sshd needs root to let a session begin")
        self._program = program
        self._plain = plain
        self._settings = settings
        self.user = PLAIN_USER if plain else getpass.getuser()
        self._directory = directory / "sshd"
        self._directory.mkdir(mode=0o700)
        for key in ("host", "client"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self._directory / key], check=True)
        # The server reads it as the user, whose way must not lead through the test's private directory.
        self._public = Path(tempfile.mkdtemp(prefix="nacre-sshd-", dir="/tmp"))
        self._public.chmod(0o755)
        self.authorized = self._public / "authorized"
        shutil.copy(self._directory / "client.pub", self.authorized)
        self.authorized.chmod(0o644)
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        host_key = (self._directory / "host.pub").read_text(encoding="utf-8").split()
        self.known_hosts = self._directory / "known_hosts"
        self.known_hosts.write_text(f"[127.0.0.1]:{self.port} {host_key[0]} {host_key[1]}\n", encoding="utf-8")
        self.unknown_hosts = self._directory / "unknown_hosts"
        """A file that does not know the server yet."""
        self.client_key = self._directory / "client"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self._public)

    def command(self, script: str) -> str:
        """The command that runs a script there by `ssh`, which asks about the host key."""
        options = f"-F /dev/null -i {self.client_key} -p {self.port} -o UserKnownHostsFile={self.unknown_hosts}"
        return f"ssh {options} -o IdentitiesOnly=yes -o StrictHostKeyChecking=ask {self.user}@127.0.0.1 '{script}'"

    def start(self) -> None:
        config = self._directory / "config"
        config.write_text(
            f"ListenAddress 127.0.0.1\nPort {self.port}\nHostKey {self._directory / 'host'}\n"
            f"AuthorizedKeysFile {self.authorized}\nPidFile none\nUsePAM no\nStrictModes no\n"
            f"PasswordAuthentication no\nPermitRootLogin yes\nMaxSessions 10\n{self._settings}\n",
            encoding="utf-8",
        )
        os.makedirs("/run/sshd", exist_ok=True)
        log = open(self._directory / "log", "ab")  # noqa: SIM115 - the daemon has it
        with log:
            words = [*self._with_plain_user(), self._program, "-D", "-e", "-f", str(config)]
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=log)
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            assert self._process.poll() is None, (self._directory / "log").read_text(encoding="utf-8")
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            os.sched_yield()
        raise AssertionError("sshd does not answer")

    def _with_plain_user(self) -> list[str]:
        """The words before a program that sees one user more."""
        if not self._plain:
            return []
        for name, line in (
            ("passwd", f"{PLAIN_USER}:x:{PLAIN_UID}:{PLAIN_UID}::{self._public}:/bin/bash"),
            ("group", f"{PLAIN_USER}:x:{PLAIN_UID}:"),
        ):
            known = Path("/etc", name).read_text(encoding="utf-8")
            (self._directory / name).write_text(f"{known}{line}\n", encoding="utf-8")
        mounts = "".join(f"mount --bind {self._directory / name} /etc/{name} && " for name in ("passwd", "group"))
        return ["unshare", "--mount", "sh", "-c", f'{mounts}exec "$@"', "sh"]

    def stop(self) -> None:
        """End the daemon and every connection."""
        if self._process is None:
            return
        for pid in _below(self._process.pid):
            try:
                os.kill(pid, 15)
            except ProcessLookupError:
                continue
        self._process.terminate()
        self._process.wait(PATIENCE_SECONDS)
        self._process = None

    def cut(self) -> None:
        """End every connection, as a network failure does; the daemon goes on."""
        assert self._process is not None
        for pid in _below(self._process.pid):
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                continue

    @property
    def options(self) -> dict[str, Any]:
        return {
            "user": self.user,
            "port": self.port,
            "known_hosts": str(self.known_hosts),
            "client_keys": [str(self.client_key)],
            "config": [],
        }


def _below(pid: int) -> list[int]:
    """The sshd processes of connections: children of the daemon and theirs that are sshd too."""
    from nacre.warden import children

    found = ((one, children.command_line(one)) for one in children.descendants(pid))
    return [one for one, argv in found if argv and "sshd" in argv[0]]
