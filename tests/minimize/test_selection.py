"""Which families a command belongs to."""

from __future__ import annotations

import pytest

from nacre.minimize.selection import printing_calls, select

SESSION = "===== test session starts =====\n1 passed\n"


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("pytest -q", ["pytest"]),
        ("python3.12 -m pytest", ["pytest"]),
        ("cd /srv && sudo -u dev timeout 30s uv run pytest -x", ["pytest"]),
        ("docker exec -it web pytest", ["pytest"]),
        ("CI=1 pytest | tail -50", ["pytest"]),
        ("git log --stat", ["git-log"]),
        ("git push origin main", ["git"]),
        ("ls -R .", ["listing"]),
        ("npx eslint src", ["jslint"]),
        ("tail -n 500 app.log", ["logs"]),
        ("./unknown", []),
    ],
)
def test_a_command_is_known_by_its_words(command: str, names: list[str]) -> None:
    assert [family.name for family in select(command, "").families] == names


@pytest.mark.parametrize("command", ["make test", "bash run.sh", "npm run check", "./ci.sh", "echo_all; make test"])
def test_a_wrapped_command_is_known_by_its_output(command: str) -> None:
    assert "pytest" in {family.name for family in select(command, SESSION).families}


@pytest.mark.parametrize("command", ["git status --porcelain", "ruff check --output-format json", "find . -print0"])
def test_machine_formats_are_not_touched(command: str) -> None:
    assert select(command, "").scope == "none"


@pytest.mark.parametrize(
    "command", ["cat x", "ls -l", "git diff", "pytest; cat log", "ls -lR", "pytest | grep x", "a | b"]
)
def test_content_and_unknown_sources_are_lossless(command: str) -> None:
    assert select(command, "").scope == "lossless"


def test_pagers_show_what_their_producer_printed() -> None:
    assert printing_calls("make 2>&1 | tee log | tail -5") == [("make",)]
    assert printing_calls("make | sort") is None
