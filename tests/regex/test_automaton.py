"""Expressions in linear time: the same answers as Python's, whatever the pieces, and no text that stalls them."""

from __future__ import annotations

import asyncio
import random
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import nacre
from nacre.output.regex_watch import RegexWatch
from nacre.regex.automaton import MOST_STEPS, Regex, RegexWorkError, compiled
from nacre.regex.syntax import RegexSyntaxError

EXPRESSIONS = [
    *["a", "ab", "a*b", "^a", "b$", "^$", "a|b", "(a|b)*c", "a{2}", "a{1,2}b", "a{,2}c", "(?i)AB", "[ab]c", r"\bab"],
    *[r"ab\b", r"a\Bb", "a.b", "(a+)+$", "(?:a|ab)(?:c|bcd)", "x?", "ö+", "[^a]b", "a+?b", r"\d+ p", "", "(?i:a)B"],
    *[r"a\.b", "((a)|b)+c", "(a?){3}b", r"\x61b", "(?#remark)ab", "^(a|)$", "ba(b|c)a", "(?i)öa", "(ab|bc)c*a"],
    *["a(?i:b)c", "a(bc)+b", "(?P<name>a)c", "[]a]b", "a{", "(a*)*b", r"\Aa", r"b\Z", "(?i)a(?-i:b)"],
]
TEXTS = st.text("aAbBcö \n.1p{", max_size=24)

WIDE = r"has too many wide ranges of characters; name fewer, or use a class such as \w or \S"


@given(st.sampled_from(EXPRESSIONS), TEXTS, st.integers(1, 5))
@example("error", "some error", 3)
def test_it_matches_a_line_exactly_when_python_does_whatever_the_pieces(source: str, text: str, size: int) -> None:
    expected = any(re.search(source, line) for line in text.split("\n"))
    regex = Regex(source)
    assert (regex.find(text) >= 0) == expected
    watch = RegexWatch(source)
    data = text.encode()
    for start in range(0, len(data), size):
        watch.feed(data[start : start + size])
    assert watch.pause() == expected


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("(", "is not a regular expression: missing ), unterminated subpattern at position 0"),
        ("(?=a)b", "uses (?=a…: lookaround, conditions and atomic groups are not supported"),
        (r"(a)\1", r"uses the back reference \1, which is not supported"),
        ("a++", "uses a possessive repeat, which is not supported; a plain one finds the same lines"),
        ("(a{90}){90}", "is too large once its counts are written out; use smaller ones"),
        ("a{99999999999999999999}", "is too large or nested too deeply"),
        ("(" * 450 + ")" * 450, "is too large or nested too deeply"),
        ("a" * 1001, "is longer than 1000 characters"),
        # Python's own `re` takes seconds for them.
        (r"(?i)" + r"[\0-\uffff]" * 80, WIDE),
        ("(?i:" + "[\x00-\uffff]" * 80 + ")", WIDE),
        (r"[\N{NULL}-\U0010ffff]" * 40, WIDE),
        ("".join(f"[a{chr(300 + i)}-\uffff]" for i in range(150)), WIDE),
    ],
)
def test_what_cannot_be_matched_in_linear_time_is_refused_with_the_reason(source: str, reason: str) -> None:
    with pytest.raises(RegexSyntaxError) as caught:
        Regex(source)
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    "source", [r"(?i)[\u0080-\U0010ffff]", "[一-龠]+[ぁ-ん]*", "[a-zA-Z0-9_-]{8}" * 20, r"\d-\d--[--9]"]
)
def test_ordinary_ranges_are_allowed(source: str) -> None:
    Regex(source)


@pytest.mark.parametrize("source", ["(a+)+$", "(a|a)*b", "(a*)*b", "(.*a){12}b", "(){1000000000}b"])
def test_expressions_that_explode_elsewhere_end(source: str) -> None:
    assert Regex(source).find("a" * 20_000 + "!") == -1


def test_what_is_remembered_is_bounded_and_forgetting_changes_nothing() -> None:
    regex = Regex("(a|b)*a(a|b){12}c")
    text = "".join("ab"[(n * n // 7) % 2] for n in range(30_000))
    assert regex.find(text) == -1
    assert sum(map(len, regex._states.values())) <= MOST_STEPS
    assert regex.find(text + "a" * 13 + "c") == 30_014


def test_the_end_of_the_first_match_is_found() -> None:
    assert Regex("b+").find("aabbb\nb") == 3
    assert Regex("c$").find("xc\ncx\nxc") == 3


def test_a_stream_is_read_as_a_person_would_see_it() -> None:
    watch = RegexWatch("Local: http://localhost:5173/$")
    pieces = [b"  \xe2\x9e\x9c Lo", b"cal: \x1b[3", b"6mhttp://localhost:\x1b[1m5173\x1b[22m/", b"\x1b[39m", b"\r\n"]
    assert [watch.feed(piece) for piece in pieces] == [False, False, False, False, True]


def test_every_state_of_a_progress_bar_is_seen() -> None:
    watch = RegexWatch("^50%$")
    assert [watch.feed(piece) for piece in (b"49%\r5", b"0%", b"\r51%\r")] == [False, False, True]


def test_a_prompt_without_line_end_matches_once_the_output_pauses() -> None:
    watch = RegexWatch("Password: $")
    assert (watch.feed(b"Password: "), watch.pause()) == (False, True)


@pytest.mark.parametrize("flags", ["", "i", "m", "s", "ims"])
def test_whole_text_is_searched_as_the_standard_library_does(flags: str) -> None:
    chance = random.Random(flags)
    pieces = [
        "a",
        "b",
        "A",
        ".",
        "^",
        "$",
        r"\s",
        r"\b",
        r"\n",
        "[^a]",
        "(a|b)",
        "(?:a.)*",
        "a+",
        "b?",
        "(?i:a)",
        "a{1,2}",
    ]
    options = sum({"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}[flag] for flag in flags)
    for _ in range(3000):
        source = "".join(chance.choices(pieces, k=chance.randint(1, 5)))
        # Without a newline at the end, before which `$` is true too for the standard library.
        text = "".join(chance.choices("abAB \n_", k=chance.randint(0, 8))).rstrip("\n")
        expected = re.search(source, text, options) is not None
        assert (Regex(source, flags).find(text) >= 0) == expected, (source, text)


# A pattern cannot stall the program: a search whose steps are never the same twice is ended, and said to be.

# Each state of the automaton is one of 2**60.
HARD = "(a|b)*a(a|b){60}c"
TOO_MUCH = f"/{HARD}/ takes too much work on this output; use a simpler expression"


def hard_text(size: int = 400_000) -> str:
    return "".join(random.Random(1).choices("ab", k=size))


def test_search_that_takes_too_much_work_is_ended_and_stays_so() -> None:
    watch = RegexWatch(HARD)
    with pytest.raises(RegexWorkError, match="takes too much work"):
        watch.feed(hard_text().encode())
    with pytest.raises(RegexWorkError):
        watch.feed(b"c")


def test_expression_is_searched_anew_after_a_search_that_took_too_much() -> None:
    with pytest.raises(RegexWorkError):
        compiled(HARD).find(hard_text())
    assert compiled(HARD).find("a" * 61 + "c") == 62


@pytest.mark.parametrize(
    "source",
    [
        r"worker-\d+\].*request (\d+) took \d{3} ms",
        r"(?i)(fail(ed|ure)?|exception|fatal).{0,80}(code|status) \d+",
        r"\b\d{1,3}(\.\d{1,3}){3}\b",
        r"^.{200,}$",
        r"[\w.+-]+@[\w-]+\.[\w.]+",
    ],
)
def test_expressions_of_real_logs_never_take_too_much(source: str) -> None:
    lines = (
        f"2024-01-02 INFO [worker-{n}] request {n * 7919} done at http://h{n}.example/{n:x}\n" for n in range(20_000)
    )
    assert RegexWatch(source).feed("".join(lines).encode()) is False


@pytest.mark.parametrize(
    "source",
    [
        "(((a{0,99}){0,99}){0,99}){0,99}",
        "a{99999999}",
        "(" * 400 + "a" + ")" * 400,
        "x" * 1_000_000,
        "(?:){0,4000000000}",
    ],
)
def test_expression_that_is_too_large_is_refused_before_it_is_built(source: str) -> None:
    with pytest.raises(RegexSyntaxError):
        compiled(source)


async def test_refusal_of_a_huge_expression_quotes_only_its_beginning() -> None:
    async with nacre.Tool("workspace") as tool:
        reply = await tool.call({"command": "true", "until": {"regex": "x" * 1_000_000}})
    assert reply.is_error
    assert "is longer than 1000 characters" in reply.text
    assert len(reply.text) < 1000


async def beaten(work: asyncio.Task[nacre.Reply]) -> tuple[nacre.Reply, int]:
    """The reply, and how often the loop came round meanwhile."""
    beats = 0
    async with asyncio.timeout(60):
        while not work.done():
            await asyncio.sleep(0.01)
            beats += 1
    return work.result(), beats


async def test_until_with_a_hard_expression_says_so_and_keeps_the_command_as_a_job(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(hard_text())
    command = "cat text; until [ -e go ]; do sleep 0.01; done"
    async with nacre.Tool("workspace", cwd=tmp_path) as tool, nacre.Tool("job") as job:
        call = tool.call({"command": command, "until": {"regex": HARD}, "tail": 1})
        reply, beats = await beaten(asyncio.create_task(call))
        (tmp_path / "go").touch()
        await job.call({"poll": [reply.details["async"]["jobId"]]})
    assert TOO_MUCH in reply.text
    # A search on the loop would have let it come round once.
    assert beats > 3


async def test_grep_with_a_hard_expression_is_refused_in_read_and_in_job(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(hard_text())
    async with (
        nacre.Tool("workspace", cwd=tmp_path) as tool,
        nacre.Tool("read") as read,
        nacre.Tool("job") as job,
    ):
        shown = await tool.call({"command": "cat text"})
        started = await tool.call({"command": "cat text", "async": True})
        job_id = started.details["async"]["jobId"]
        await job.call({"poll": [job_id]})
        replies = [
            await read.call({"id": shown.details["artifactId"], "grep": HARD}),
            await job.call({"read": job_id, "grep": HARD}),
            await job.call({"poll": [job_id], "until": {"regex": HARD}}),
        ]
    for reply in replies:
        assert reply.is_error
        assert TOO_MUCH in reply.text
