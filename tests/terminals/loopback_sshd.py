"""A real sshd on loopback for one test, with keys of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

PRIVILEGE_SEPARATION = Path("/run/sshd")


class Sshd(NamedTuple):
    """A server that is ready."""

    port: int
    key: Path
    """The private key that it accepts."""
    known_hosts: Path
    """A file that does not know it yet."""

    def command(self, script: str) -> str:
        """Return the command that runs a script there; ssh asks about the host key."""
        options = f"-F /dev/null -i {self.key} -p {self.port} -o UserKnownHostsFile={self.known_hosts}"
        return f"ssh {options} -o IdentitiesOnly=yes -o StrictHostKeyChecking=ask {_user()}@127.0.0.1 '{script}'"


def _user() -> str:
    import pwd

    return pwd.getpwuid(os.geteuid()).pw_name


@contextmanager
def sshd(place: Path) -> Iterator[Sshd]:
    """Run a server until the end of the block; skips where there is none, or it cannot be run."""
    program = shutil.which("sshd", path="/usr/sbin:/usr/bin")
    if program is None or shutil.which("ssh-keygen") is None:
        pytest.skip("needs openssh-server")
    if os.geteuid() != 0:
        pytest.skip("sshd needs root to let a session begin")
    PRIVILEGE_SEPARATION.mkdir(mode=0o755, exist_ok=True)
    for name in ("host", "user"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / name)],
            check=True,
            stdin=subprocess.DEVNULL,
        )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    settings = place / "sshd_config"
    settings.write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {place / 'host'}\nPidFile none\nUsePAM no\n"
        f"AuthorizedKeysFile {place / 'user.pub'}\nStrictModes no\nPasswordAuthentication no\nPermitRootLogin yes\n",
        encoding="utf-8",
    )
    server = subprocess.Popen(
        [program, "-D", "-e", "-f", str(settings)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert server.stderr is not None
    try:
        said = ""
        while "Server listening" not in said:
            line = server.stderr.readline()
            assert line, f"sshd did not start: {said}"
            said += line
        yield Sshd(port, place / "user", place / "known_hosts")
    finally:
        server.terminate()
        server.wait()
        server.stderr.close()
