"""The terminals of an ACP client, as the workspace tool uses them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Self

from acp import Client, RequestError
from acp.schema import ClientCapabilities, EnvVariable

from nacre.backends.client_terminal import Snapshot, TerminalExit
from nacre.errors import BackendUnavailableError, StartError


class ClientTerminals:
    """The terminals that a client offers to one session of an agent."""

    def __init__(self, connection: Client, session_id: str) -> None:
        """Use the client at the other end.

        Args:
            connection: what the agent was given in `on_connect`.
            session_id: the session that the terminals belong to.
        """
        self._connection = connection
        self._session = session_id

    @classmethod
    def offered(cls, connection: Client, session_id: str, capabilities: ClientCapabilities | None) -> Self | None:
        """The terminals, if the client said in `initialize` that it has any."""
        return cls(connection, session_id) if capabilities is not None and capabilities.terminal else None

    async def create(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], output_bytes: int) -> str:
        try:
            with _translated():
                made = await self._connection.create_terminal(
                    session_id=self._session,
                    command=argv[0],
                    args=list(argv[1:]),
                    env=[EnvVariable(name=name, value=value) for name, value in env.items()],
                    cwd=cwd,
                    output_byte_limit=output_bytes,
                )
        except BackendUnavailableError as error:
            raise StartError(f"the client gave no terminal: {error}") from error
        return made.terminal_id

    async def output(self, terminal_id: str) -> Snapshot:
        with _translated():
            shown = await self._connection.terminal_output(session_id=self._session, terminal_id=terminal_id)
        return Snapshot(shown.output, shown.truncated)

    async def wait(self, terminal_id: str) -> TerminalExit:
        with _translated():
            ended = await self._connection.wait_for_terminal_exit(session_id=self._session, terminal_id=terminal_id)
        return TerminalExit(ended.exit_code, ended.signal)

    async def kill(self, terminal_id: str) -> None:
        with _translated():
            await self._connection.kill_terminal(session_id=self._session, terminal_id=terminal_id)

    async def release(self, terminal_id: str) -> None:
        with _translated():
            await self._connection.release_terminal(session_id=self._session, terminal_id=terminal_id)


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Translate the failures of a client to errors of nacre."""
    try:
        yield
    except RequestError as error:
        why = error.data.get("details") if isinstance(error.data, dict) else None
        raise BackendUnavailableError(f"the client refused: {why or error}") from error
    except ConnectionError as error:
        raise BackendUnavailableError("the client is gone") from error
    except ValueError as error:
        raise BackendUnavailableError(f"the client's answer is not one of the protocol: {error}") from error
