"""Our dataclass and the standard library's cannot be told apart by whoever uses the classes."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from nacre import dataclass as ours
from nacre.result import Exited, Output, ShellResult


def _classes(library: Any) -> tuple[type, type, type]:
    field = library.field

    @library.dataclass(frozen=True, slots=True)
    class Point:
        """A place."""

        x: int
        y: int = 0
        label: str = field(default="", repr=False, metadata={"doc": "what it is called"})

    @library.dataclass(frozen=True, slots=True, kw_only=True)
    class Box:
        """Ends in order."""

        low: float
        high: float = 9.0
        marks: list[int] = field(default_factory=list)

        def __post_init__(self) -> None:
            if self.low > self.high:
                raise ValueError("upside down")

        def __repr__(self) -> str:
            return f"<{self.low}..{self.high}>"

    @library.dataclass(frozen=True, slots=True)
    class Nothing:
        """No fields at all."""

    return Point, Box, Nothing


STANDARD, OURS = _classes(dataclasses), _classes(ours)

# What can be asked of the three classes; each answer must be the same.
QUESTIONS: list[Callable[[Any, Any, Any], Any]] = [
    lambda point, box, nothing: (repr(point(1, label="a")), repr(box(low=1.0)), repr(nothing())),
    lambda point, box, nothing: (point(1, 2) == point(x=1, y=2), point(1) == point(2), point(1) != 1, point(1) == (1,)),
    lambda point, box, nothing: (nothing() == nothing(), nothing() == point(1), box(low=1) == box(low=1.0)),
    lambda point, box, nothing: (
        hash(point(1)) == hash(point(1)),
        len({point(1), point(1), point(2)}),
        hash(nothing()),
    ),
    lambda point, box, nothing: box(low=1).marks is not box(low=1).marks,
    lambda point, box, nothing: dataclasses.asdict(box(low=1.0, marks=[3])),
    lambda point, box, nothing: dataclasses.astuple(point(1, 2, "a")),
    lambda point, box, nothing: repr(dataclasses.replace(point(1, 2), y=5)),
    lambda point, box, nothing: [
        (field.name, field.type, field.default, field.repr, field.kw_only, dict(field.metadata))
        for kind in (point, box, nothing)
        for field in dataclasses.fields(kind)
    ],
    lambda point, box, nothing: [str(inspect.signature(kind)) for kind in (point, box, nothing)],
    lambda point, box, nothing: [kind.__match_args__ for kind in (point, box, nothing)],
    lambda point, box, nothing: [(kind.__slots__, kind.__doc__, kind.__module__) for kind in (point, box, nothing)],
    lambda point, box, nothing: hasattr(point(1), "__dict__"),
    lambda point, box, nothing: (copy.copy(point(1)) == point(1), copy.deepcopy(box(low=1)) == box(low=1)),
    lambda point, box, nothing: point(),
    lambda point, box, nothing: point(1, 2, "a", 4),
    lambda point, box, nothing: point(1, x=1),
    lambda point, box, nothing: point(1, z=1),
    lambda point, box, nothing: point(y=1, z=1),
    lambda point, box, nothing: box(1.0),
    lambda point, box, nothing: box(low=10.0),
    lambda point, box, nothing: nothing(1),
    lambda point, box, nothing: hash(box(low=1)),
    lambda point, box, nothing: setattr(point(1), "x", 2),
    lambda point, box, nothing: delattr(point(1), "x"),
    lambda point, box, nothing: dataclasses.replace(point(1), z=2),
]


def _answer(question: Callable[[Any, Any, Any], Any], classes: tuple[type, type, type]) -> Any:
    try:
        answer = question(*classes)
    except (TypeError, ValueError, AttributeError) as error:
        answer = type(error), str(error)
    return str(answer)


@pytest.mark.parametrize("question", QUESTIONS, ids=range(len(QUESTIONS)))
def test_a_class_answers_as_the_standard_librarys_does(question: Callable[[Any, Any, Any], Any]) -> None:
    new = _classes(ours)
    assert _answer(question, new) == _answer(question, STANDARD)
    for kind in new:
        # After many values a class has another initialiser.
        for _ in range(ours.MANY + 1):
            kind(low=1.0) if kind is new[1] else kind(*range(len(kind.__slots__)))  # type: ignore[attr-defined]
    assert _answer(question, new) == _answer(question, STANDARD)


def test_our_replace_and_fields_give_what_the_standard_ones_give() -> None:
    point = OURS[0]
    assert ours.replace(point(1, 2), y=5) == dataclasses.replace(point(1, 2), y=5) == point(1, 5)
    assert [field.name for field in ours.fields(point)] == [field.name for field in dataclasses.fields(point)]


def test_a_value_can_be_matched_and_pickled() -> None:
    match Exited(3):
        case Exited(code):
            assert code == 3
    result = ShellResult(
        command="x",
        outcome=Exited(0),
        output=Output(text="é", total_bytes=2, total_lines=1),
        cwd="/",
        started_at=1.0,
        elapsed=2.0,
    )
    assert pickle.loads(pickle.dumps(result)) == result


def test_what_is_no_frozen_value_is_left_to_the_standard_library() -> None:
    with pytest.raises(TypeError, match="frozen values with slots"):
        ours._dataclass(frozen=False, slots=True)
