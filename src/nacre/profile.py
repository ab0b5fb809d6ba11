"""A contract's profile: the decisions about running that differ between contracts. Everything else is the engine's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from nacre.command import Streams
from nacre.output.captured import Captured, Selection
from nacre.result import Output
from nacre.settings import RuleDecisions

GUARD_DENIAL = "denied by nacre's guard (rule {rule}): "


class CaptureShape(NamedTuple):
    """How much of a stream is kept in memory; the rest is in the artifact."""

    whole_bytes: int
    """Up to this size nothing is cut."""
    head_bytes: int
    tail_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a contract decides about running."""

    contract: str
    timeout: float
    grace: float
    streams: Streams
    capture: CaptureShape
    view: Callable[[Captured, Selection], Output]
    """What is shown of a captured stream."""
    sized_by_settings: bool = False
    """Whether `view` obeys the sizes of its selection, so that the capture must hold that much."""
    environment: Literal["inherited", "filtered"] = "filtered"
    guard: bool = True
    rules: RuleDecisions = ()
    """What rules of the guard decide here, where not as everywhere."""
    denial: str = GUARD_DENIAL
    """How a denial by the guard begins."""
    normalises: bool = False
    """Whether a request is read as a coding agent means it: URLs, a leading `cd`, a trailing `head` or `tail`."""
    adopts_survivors: bool = False
    """Whether what a finished command leaves running becomes a job."""
    moves_to_background: bool = False
    """Whether a command that outlives its window becomes a job."""
    tells_early_end: bool = False
    """Whether the answer to a background start tells that the job has ended already."""
    sources_rc: bool = False
    """Whether its sessions begin with what the user's rc defines."""
    persists: bool = False
    """Whether the commands of a session share one shell."""
    minimizes: bool = False
    """Whether a model reads the view, so that a long output is shortened for it."""
    quiets: bool = False
    """Whether a model reads the view, so that well-known tools are asked to print less."""
    completion_line: bool = False
    """Whether a background job's output file ends with a line that says how it ended."""
    names_paths: bool = False
    """Whether answers name an artifact by its path, so that its file must be in plain order."""
    keep_partial: bool = False
    """Whether the answer to a timeout has no place for the output, so that an artifact must hold it."""
    surface: str | None = None
    """What viewers are told that the call came by, where that is not what its program serves."""
