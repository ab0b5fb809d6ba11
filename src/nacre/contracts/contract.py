"""The interfaces of contracts: a contract translates between a model and the engine, and runs nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from nacre.settings import INLINE_BYTES

if TYPE_CHECKING:
    from nacre.engine.engine import Engine
    from nacre.errors import NacreError
    from nacre.kept_command import Background
    from nacre.profile import Profile
    from nacre.request import Owner, ShellRequest
    from nacre.result import ShellResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a tool call answers."""

    text: str
    is_error: bool
    details: Mapping[str, Any] = field(default_factory=dict)
    bare: Mapping[str, Any] | None = None
    """The whole answer, for contracts with an answer object of their own."""
    notices: tuple[str, ...] = ()
    """Facts for a person at the command line, for which the object has no place."""
    refusal: NacreError | None = field(default=None, compare=False)
    """Why nothing was run, if nothing was; the text says the same."""

    def json(self) -> dict[str, Any]:
        """Return the answer as the wires send it."""
        if self.bare is not None:
            return dict(self.bare)
        return {"text": self.text, "is_error": self.is_error, "details": dict(self.details)}


@dataclass(frozen=True, slots=True)
class SchemaContext:
    """The facts that a schema and its description depend on."""

    cwd: str
    async_enabled: bool = True
    window: float = 0.0
    """Seconds after which a command becomes a job; 0 for never."""
    persists: bool = True
    """Whether the commands of a session share one shell, if the contract has sessions."""
    inline_bytes: int = INLINE_BYTES
    """Most bytes of output in one answer."""
    names_sessions: bool = False
    """Whether a call may name its session."""
    most_wait: float | None = None
    """Seconds after which the caller gives up on a call; None if it waits for any answer."""


class Contract(Protocol):
    """A contract whose call is one command."""

    profile: Profile

    def schema(self, context: SchemaContext) -> dict[str, Any]:
        """Return name, description and input schema, as the model sees them."""

    def decode(self, arguments: object) -> ShellRequest:
        """Return the request in the model's arguments; raises InvalidRequestError."""

    def present(self, result: ShellResult | Background) -> Reply:
        """Return what the model reads about a command."""

    def refuse(self, error: NacreError) -> Reply:
        """Return what the model reads if nothing was run."""


# Base classes, not protocols: every call checks which kind it has, and isinstance of a protocol takes 10 to 20 µs.


class Companion(ABC):
    """A tool beside the shell: it runs no command and answers from kept jobs and artifacts."""

    most_wait: float | None = None
    """Seconds after which the caller gives up on a call; None if it waits for any answer."""

    @abstractmethod
    def schema(self, context: SchemaContext) -> dict[str, Any]:
        """Return name, description and input schema, as the model sees them."""

    @abstractmethod
    async def answer(self, engine: Engine, arguments: object, owner: Owner) -> Reply:
        """Return what the model of `owner` reads; raises NacreError if there is no answer."""


class Series(Protocol):
    """Several commands of one call, run one after another under one limit."""

    @property
    def requests(self) -> Sequence[ShellRequest]: ...
    @property
    def profile(self) -> Profile: ...
    @property
    def timeout(self) -> float: ...

    def present(self, results: Sequence[ShellResult | NacreError | None]) -> Reply:
        """Return what the model reads; None stands for a command that was not started for lack of time."""


class SeriesContract(ABC):
    """A contract whose call is several commands."""

    @abstractmethod
    def schema(self, context: SchemaContext) -> dict[str, Any]:
        """Return name, description and input schema, as the model sees them."""

    @abstractmethod
    def decode_series(self, arguments: object) -> Series:
        """Return the commands in the model's arguments; raises InvalidRequestError."""

    @abstractmethod
    def refuse(self, error: NacreError) -> Reply:
        """Return what the model reads if nothing was run."""
