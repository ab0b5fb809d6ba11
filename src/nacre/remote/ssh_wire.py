"""The way to a machine by ssh: one connection, one channel, host keys checked. The only file that imports asyncssh."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import asyncssh

from nacre.errors import BackendUnavailableError, ConfigError
from nacre.remote.wire import Wire

LOGIN_SECONDS = 15.0
# Quick ciphers first: the default order begins with one that asyncssh makes in Python.
CIPHERS = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes128-ctr", "aes256-ctr")
WINDOW_BYTES = 16 * 1024 * 1024


class SshDialer:
    """Reaches a host as `ssh` would: ~/.ssh/config, keys, agent and known hosts are the user's own."""

    def __init__(self, host: str, *, user: str | None = None, port: int | None = None, **options: Any) -> None:
        """With options of `asyncssh.connect`, such as `client_keys` and `known_hosts`, as paths: jobs need them too."""
        self._host, self._user, self._port = host, user, port
        self._options = options
        login = f"{user}@" if user else ""
        self.name = f"ssh://{login}{host}{f':{port}' if port else ''}"

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> SshDialer:
        return cls(description["host"], user=description["user"], port=description["port"], **description["options"])

    def describe(self) -> dict[str, object]:
        return {
            "kind": "ssh",
            "host": self._host,
            "user": self._user,
            "port": self._port,
            "options": self._options,
        }

    async def open(self, text: str) -> Wire:
        chosen: dict[str, Any] = {**self._options}
        if self._user is not None:
            chosen["username"] = self._user
        if self._port is not None:
            chosen["port"] = self._port
        try:
            connection = await asyncssh.connect(
                self._host,
                encryption_algs=[*CIPHERS, "chacha20-poly1305@openssh.com"],
                compression_algs=None,
                login_timeout=LOGIN_SECONDS,
                connect_timeout=LOGIN_SECONDS,
                keepalive_interval=10,
                **chosen,
            )
        except asyncssh.HostKeyNotVerifiable as error:
            raise BackendUnavailableError(
                f"{self.name} cannot be trusted: {error.reason}; connect once with `ssh` and check its key"
            ) from error
        except asyncssh.PermissionDenied as error:
            raise BackendUnavailableError(f"{self.name} refused the login: {error.reason}") from error
        except (asyncssh.Error, OSError) as error:
            raise BackendUnavailableError(f"{self.name} cannot be reached: {error}") from error
        try:
            from nacre.warden.launch import quoted

            process = await connection.create_process(
                f"exec sh -c {quoted(text)}", encoding=None, window=WINDOW_BYTES, stderr=asyncssh.PIPE
            )
        except (asyncssh.Error, OSError) as error:
            connection.close()
            await connection.wait_closed()
            raise BackendUnavailableError(f"{self.name} opened no channel: {error}") from error
        return SshWire(connection, process)


class SshWire:
    """One channel of one connection."""

    def __init__(self, connection: asyncssh.SSHClientConnection, process: asyncssh.SSHClientProcess[bytes]) -> None:
        self._connection = connection
        self._process = process

    async def read(self, size: int) -> bytes:
        try:
            return await self._process.stdout.read(size)
        except (asyncssh.Error, OSError):
            return b""

    def write(self, data: bytes) -> None:
        try:
            self._process.stdin.write(data)
        except (asyncssh.Error, OSError):
            return  # the reader sees the end

    async def read_errors(self, size: int) -> bytes:
        try:
            return await self._process.stderr.read(size)
        except (asyncssh.Error, OSError):
            return b""

    async def complaint(self) -> str:
        try:
            async with asyncio.timeout(0.5):
                said = await self._process.stderr.read(4096)
        except (TimeoutError, asyncssh.Error, OSError):
            said = b""
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip() if lines else ""

    async def close(self) -> None:
        self._process.close()
        self._connection.close()
        await self._connection.wait_closed()


def ssh_named(text: str) -> SshDialer:
    """The host of `ssh://[USER@]HOST[:PORT]`.

    Raises:
        ConfigError: it names no host.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise ConfigError(f"--on {text!r}: {error}; it is ssh://[USER@]HOST[:PORT]", key="on") from error
    if not parts.hostname or parts.path not in ("", "/") or parts.password:
        raise ConfigError(f"--on {text!r} names no host; it is ssh://[USER@]HOST[:PORT]", key="on")
    return SshDialer(parts.hostname, user=unquote(parts.username) if parts.username else None, port=port)
