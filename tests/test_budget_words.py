"""A budget in one text is read as it is meant, and a wrong one is refused with the limit and its value."""

from __future__ import annotations

import pytest

from nacre.budget_words import budget_in
from nacre.call_budget import Budget
from nacre.errors import InvalidRequestError


def test_every_limit_has_a_word() -> None:
    assert budget_in("cpu=1.5, memory=1G,processes=200,file=10MiB,output=4k,wall=60") == Budget(
        cpu_seconds=1.5, memory_bytes=2**30, processes=200, file_bytes=10 * 2**20, output_bytes=4096, wall_seconds=60.0
    )
    assert budget_in("memory=1.5g,output=100").memory_bytes == 3 * 2**29


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("memory=1Q", 'budget.memory is "1Q"; accepted: a size above 0, e.g. 500M or 2G'),
        ("cpu=0", 'budget.cpu is "0"; accepted: a number of seconds above 0'),
        ("cpu=1G", 'budget.cpu is "1G"; accepted: a number of seconds above 0'),
        ("cpu=-3", 'budget.cpu is "-3"; accepted: a number of seconds above 0'),
        ("wall=nan", 'budget.wall is "nan"; accepted: a number of seconds above 0'),
        ("processes=1.5", 'budget.processes is "1.5"; accepted: a whole number above 0'),
        ("processes=", 'budget.processes is ""; accepted: a whole number above 0'),
        ("cpu=1,cpu=2", "budget names cpu twice; accepted: each limit once"),
        ("disk=1G", 'budget has "disk=1G"; accepted: LIMIT=VALUE,… with the limits cpu, memory, processes, file'),
        ("cpu", 'budget has "cpu"; accepted: LIMIT=VALUE,…'),
        ("", 'budget has ""; accepted: LIMIT=VALUE,…'),
    ],
)
def test_an_error_names_the_limit_and_its_value(text: str, message: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        budget_in(text)
    assert str(caught.value).startswith(message)
    assert (caught.value.field or "").startswith("budget")
