"""The errors: the tree in the module's docstring is the tree of classes, and messages carry what a caller needs."""

from __future__ import annotations

import inspect
import re

import pytest

from nacre import errors
from nacre.errors import (
    CommandFailedError,
    ConfigError,
    DeniedError,
    InvalidRequestError,
    NacreError,
    UnknownJobError,
    WorkingDirectoryError,
)


def drawn() -> dict[str, str]:
    """Class → base, as drawn."""
    bases: dict[str, str] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.fullmatch(r"([│├└─ ]*)(\w+Error)", line)
        if match:
            depth = len(match[1]) // 4
            del path[depth:]
            if path:
                bases[match[2]] = path[-1]
            path.append(match[2])
    return bases


def defined() -> list[type[NacreError]]:
    return [
        value
        for value in vars(errors).values()
        if inspect.isclass(value) and issubclass(value, NacreError) and value.__module__ == errors.__name__
    ]


def test_the_tree_in_the_docstring_is_the_tree_of_classes() -> None:
    assert drawn() == {error.__name__: error.__bases__[0].__name__ for error in defined() if error is not NacreError}


def test_no_error_has_two_bases() -> None:
    assert [error for error in defined() if len(error.__bases__) != 1] == []


@pytest.mark.parametrize(
    ("error", "message", "facts"),
    [
        (InvalidRequestError("no", field="env"), "no", {"field": "env"}),
        (
            WorkingDirectoryError("/x", "does not exist"),
            "working directory '/x' does not exist",
            {"path": "/x", "reason": "does not exist"},
        ),
        (DeniedError("permission denied", rule="no_force_push"), "permission denied", {"rule": "no_force_push"}),
        (ConfigError("wrong", source="f", key="k"), "wrong", {"source": "f", "key": "k"}),
        (UnknownJobError("bg_9", ["bg_1", "bg_2"]), "no job 'bg_9'; known jobs: bg_1, bg_2", {"job_id": "bg_9"}),
        (UnknownJobError("bg_9", []), "no job 'bg_9'; known jobs: none", {"job_id": "bg_9"}),
        (CommandFailedError("failed", result=7), "failed", {"result": 7}),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_attributes_carry_the_facts(error: NacreError, message: str, facts: dict[str, object]) -> None:
    assert (str(error), {name: getattr(error, name) for name in facts}) == (message, facts)
