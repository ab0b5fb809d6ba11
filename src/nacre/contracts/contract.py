"""What a contract is: the shape a model sees around one engine. Pure translation, no execution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from nacre.errors import NacreError
from nacre.profile import Background, Profile
from nacre.request import Owner, ShellRequest
from nacre.result import ShellResult

if TYPE_CHECKING:
    from nacre.engine.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a tool call answers."""

    text: str
    is_error: bool
    details: Mapping[str, Any] = field(default_factory=dict)
    bare: Mapping[str, Any] | None = None
    """The whole answer, for contracts whose wire shape is an object of their own."""
    notices: tuple[str, ...] = ()
    """What a person at the command line should know and the object has no place for."""
    refusal: NacreError | None = field(default=None, compare=False)
    """Why nothing was run, where nothing was; the text says the same."""

    def json(self) -> dict[str, Any]:
        """What the wire gets."""
        if self.bare is not None:
            return dict(self.bare)
        return {"text": self.text, "is_error": self.is_error, "details": dict(self.details)}


@dataclass(frozen=True, slots=True)
class Scene:
    """What a schema and a description may depend on."""

    cwd: str
    async_enabled: bool = True
    window: float = 0.0
    """Seconds after which a command becomes a job; 0 when it never does by itself."""
    persists: bool = True
    """Whether the commands of a session share one shell, where the contract has that."""


class Contract(Protocol):
    profile: Profile

    def schema(self, scene: Scene) -> dict[str, Any]:
        """Name, description and input schema, as the model sees them."""

    def decode(self, arguments: object) -> ShellRequest:
        """What the model asks for; raises InvalidRequestError."""

    def present(self, result: ShellResult | Background) -> Reply:
        """What the model reads."""

    def refuse(self, error: NacreError) -> Reply:
        """What the model reads when nothing was run."""


# Classes to inherit from, not protocols: every call asks which of them it has, and isinstance of a protocol takes 10 to
# 20 µs.


class Companion(ABC):
    """A tool beside the shell: it runs nothing, it answers from what the engine keeps."""

    @abstractmethod
    def schema(self, scene: Scene) -> dict[str, Any]:
        """Name, description and input schema, as the model sees them."""

    @abstractmethod
    async def answer(self, engine: Engine, arguments: object, owner: Owner) -> Reply:
        """What the model reads, for whom; raises NacreError for what cannot be answered."""


class Series(Protocol):
    """The commands of one call that are several: run one after another, the limit is for all of them together."""

    @property
    def requests(self) -> Sequence[ShellRequest]: ...
    @property
    def profile(self) -> Profile: ...
    @property
    def timeout(self) -> float: ...

    def present(self, results: Sequence[ShellResult | NacreError | None]) -> Reply:
        """What the model reads; None stands for a command that was not started, because no time was left."""


class SeriesContract(ABC):
    """A contract whose call is several commands."""

    @abstractmethod
    def schema(self, scene: Scene) -> dict[str, Any]:
        """Name, description and input schema, as the model sees them."""

    @abstractmethod
    def decode_series(self, arguments: object) -> Series:
        """What the model asks for; raises InvalidRequestError."""

    @abstractmethod
    def refuse(self, error: NacreError) -> Reply:
        """What the model reads when nothing was run."""
