"""A real sshd on loopback for a test: keys, port and files of its own; it ends with the test."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any, Self

import pytest

PATIENCE_SECONDS = 30.0


class Sshd:
    """Serves the user who runs the tests, by one key."""

    def __init__(self, directory: Path) -> None:
        program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
        if program is None:
            pytest.skip("sshd is not installed: .ci/parts")
        self._program = program
        self._directory = directory / "sshd"
        self._directory.mkdir(mode=0o700)
        for key in ("host", "client"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self._directory / key], check=True)
        shutil.copy(self._directory / "client.pub", self._directory / "authorized")
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        host_key = (self._directory / "host.pub").read_text(encoding="utf-8").split()
        self.known_hosts = self._directory / "known_hosts"
        self.known_hosts.write_text(f"[127.0.0.1]:{self.port} {host_key[0]} {host_key[1]}\n", encoding="utf-8")
        self.client_key = self._directory / "client"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        config = self._directory / "config"
        config.write_text(
            f"ListenAddress 127.0.0.1\nPort {self.port}\nHostKey {self._directory / 'host'}\n"
            f"AuthorizedKeysFile {self._directory / 'authorized'}\nPidFile none\nUsePAM no\nStrictModes no\n"
            "PasswordAuthentication no\nPermitRootLogin yes\nMaxSessions 10\n",
            encoding="utf-8",
        )
        os.makedirs("/run/sshd", exist_ok=True)
        log = open(self._directory / "log", "ab")  # noqa: SIM115 - the daemon has it
        with log:
            self._process = subprocess.Popen([self._program, "-D", "-e", "-f", config], stderr=log)
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            assert self._process.poll() is None, (self._directory / "log").read_text(encoding="utf-8")
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            os.sched_yield()
        raise AssertionError("sshd does not answer")

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
            "user": getpass.getuser(),
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
