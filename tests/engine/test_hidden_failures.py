"""Which failures a pipe hides: a search without a match, or a difference, is an answer and none."""

from __future__ import annotations

from pathlib import Path

import pytest

import nacre
from nacre.contracts.contract import Reply
from nacre.tool import Tool


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "f").write_text("one\n")
    (tmp_path / "g").write_text("two\n")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "stages"),
    [
        ("grep nomatch f | wc -l", (1, 0)),
        ("egrep nomatch f 2>/dev/null | wc -l", (1, 0)),
        ("fgrep nomatch f 2>/dev/null | wc -l", (1, 0)),
        ("diff f g | wc -l", (1, 0)),
        ("cmp f g | cat", (1, 0)),
        ("test -f nope | cat", (1, 0)),
        ("[ -f nope ] | cat", (1, 0)),
        ("[[ -f nope ]] | cat", (1, 0)),
        ("git diff --no-index f g | wc -l", (1, 0)),
        ("git --no-pager grep --no-index nomatch f | cat", (1, 0)),
        ("/usr/bin/env grep nomatch f | sort | uniq", (1, 0, 0)),
        ("env X=1 grep nomatch f | cat", (1, 0)),
        ("X=1 grep nomatch f | cat", (1, 0)),
        ("time grep nomatch f | cat", (1, 0)),
        ("timeout 9 grep nomatch f | cat", (1, 0)),
        ('\\grep "nomatch" f | cat', (1, 0)),
        ("false | true; grep nomatch f | cat", (1, 0)),
        ("grep nomatch f | cat || false | true | true", (1, 0)),
        ("for f in f; do grep nomatch $f | cat; done", (1, 0)),
        ("cat f | grep nomatch | wc -l", (0, 1, 0)),
        ("yes | head -n 1 | cat", (141, 0, 0)),
    ],
)
async def test_an_answer_in_a_pipe_is_no_failure(files: Path, command: str, stages: tuple[int, ...]) -> None:
    result = await nacre.run(command, cwd=files)
    assert result.stages == stages
    assert result.notices == ()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("grep nomatch missing 2>/dev/null | cat", "stage 1 exited with 2"),
        ("false | cat", "stage 1 exited with 1"),
        ("true grep | false | cat", "stage 2 exited with 1 (stage codes 0 | 1 | 0)"),
        ("grep nomatch f | false | cat", "stage 2 exited with 1 (stage codes 1 | 1 | 0)"),
        ("grep nomatch f | cat; false | cat", "stage 1 exited with 1"),
        ("(exit 1) | grep -c . | cat", "stage 1 exited with 1 (stage codes 1 | 1 | 0)"),
        ("git rev-parse --verify -q nope | cat", "stage 1 exited with"),
    ],
)
async def test_what_no_answer_explains_is_told(files: Path, command: str, told: str) -> None:
    result = await nacre.run(command, cwd=files)
    (notice,) = result.notices
    assert notice.startswith(f"a pipe hides a failure: {told}")


async def test_an_answer_is_none_in_a_session_and_before_a_lifted_stage_either(files: Path) -> None:
    async with Tool("workspace", cwd=files) as tool:
        plain = await tool.call({"command": "grep nomatch f | wc -l"})
        lifted = await tool.call({"command": "grep nomatch f | sort | tail -n 3"})
        failing = await tool.call({"command": "false | sort | tail -n 3"})
    assert _told(plain) == (False, [1, 0], False)
    assert _told(lifted) == (False, [1, 0], False)
    assert _told(failing) == (False, [1, 0], True)


def _told(reply: Reply) -> tuple[bool, object, bool]:
    return reply.is_error, reply.details["stages"], "a pipe hides a failure" in reply.text
