"""What the minimiser may do to a text: cut it, fold it, count it, and nothing else."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nacre.minimize.minimiser as minimiser_module
from nacre.minimize.evidence import detectors, mark_evidence
from nacre.minimize.families import built_in
from nacre.minimize.minimiser import FOOTER, LEAST_SAVED, LEAST_SAVED_BYTES, MOST_BYTES, minimise, shorten
from nacre.minimize.rows import rows_of
from nacre.output.escapes import strip
from nacre.output.lines import settle

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "outputs"
MARKER = re.compile(r"^\[(?:… \d+ (?:more|below).*…|\d+ matches in \d+ files)\]$")
COUNT = re.compile(r" \(×\d+\)$")

EXAMPLES = [
    pytest.param(example.command, example.exit, example.input, id=family.name)
    for family in built_in()
    for example in family.examples
]


def _plain(text: str) -> str:
    return re.sub(r"[ \t\u00a0]+", " ", text)


def strangers(raw: str, shown: str) -> list[str]:
    """Lines that are neither a part of the raw text nor a counted marker."""
    text = _plain(settle(strip(raw)).text)
    lines = (_plain(COUNT.sub("", line)).strip().removesuffix("…") for line in shown.split("\n"))
    return [line for line in lines if line and line not in text and not MARKER.match(line + "]" * (line[-1] != "]"))]


def _is_shown(line: str, shown: str) -> bool:
    """Whether a line is shown whole, or its rest below the name of its file."""
    line = _plain(line).strip()
    file = re.split(r"(?=[:(]\d)", line, maxsplit=1)[0]
    return line in shown or (f"{file}\n" in shown and f"\n {line.removeprefix(file).removeprefix(':')}" in shown)


@pytest.mark.parametrize(("command", "code", "text"), EXAMPLES)
def test_each_line_shown_is_a_part_of_the_input_or_a_counted_marker(command: str, code: int, text: str) -> None:
    found = shorten(command, code, text)
    assert found is None or strangers(text, found.text) == []


@pytest.mark.parametrize(("command", "code", "text"), EXAMPLES)
def test_a_text_is_shortened_once(command: str, code: int, text: str) -> None:
    found = shorten(command, code, text)
    if found is not None and found.footer:
        assert shorten(command, code, f"{found.text}\n{found.footer}") is None


@given(where=st.integers(min_value=0, max_value=4000), number=st.integers(min_value=0, max_value=len(EXAMPLES) - 1))
@settings(max_examples=150, deadline=None)
def test_a_truncated_text_keeps_the_rule(where: int, number: int) -> None:
    command, code, text = EXAMPLES[number].values
    assert isinstance(text, str)
    cut = text[: where % (len(text) + 1)]
    found = shorten(str(command), int(str(code)), cut)
    assert found is None or strangers(cut, found.text) == []


@given(
    st.text(alphabet=" \n\r\terrorFAIL0123456789:./-=[]{}()✓×│", max_size=600),
    st.sampled_from(["x", "pytest", "ls -R"]),
)
@settings(max_examples=150, deadline=None)
def test_any_text_is_survived_and_a_failure_never_becomes_blank(text: str, command: str) -> None:
    found = shorten(command, 1, text)
    assert found is None or bool(found.text.strip()) is bool(settle(strip(text)).text.strip())


def test_a_text_that_saves_little_stays() -> None:
    text = "\n".join(f"step {number} of the plan" for number in range(20))
    assert len(text) < LEAST_SAVED_BYTES
    assert minimise("./x", 0, text) is None
    unlike = "\n".join("word " * number for number in range(1, 60))
    assert minimise("./x", 0, unlike) is None


def test_a_text_that_saves_enough_says_what_is_hidden() -> None:
    text = "\n".join(f"probe {number} ok" for number in range(500))
    found = minimise("./x", 1, text)
    assert found is not None
    assert found.raw_bytes - found.shown_bytes >= LEAST_SAVED * found.raw_bytes
    assert found.text.endswith("0 error lines hidden]")
    assert "496 repeats of rows that are shown" in found.text
    assert FOOTER.search(found.text)


def test_the_last_rows_of_a_failure_stay() -> None:
    text = "\n".join(f"   Compiling kit v0.{number}.0" for number in range(80))
    found = minimise("cargo build", 137, text)
    assert found is not None
    assert found.text.split("\n")[:3] == [f"   Compiling kit v0.{number}.0" for number in (77, 78, 79)]


@pytest.mark.parametrize(
    "command", ["cat big.log", "git diff", "jq . x", "git status --porcelain -z", "kubectl get -o json"]
)
def test_content_and_machine_formats_lose_nothing(command: str) -> None:
    text = "\n".join(f"line {number} ok" for number in range(500))
    found = shorten(command, 0, text)
    assert found is None or found.text == text


def test_what_a_filter_in_a_pipe_printed_loses_nothing() -> None:
    text = "\n".join(f"line {number} ok" for number in range(500))
    assert minimise("pytest | sort", 0, text) is None


def test_a_redrawn_bar_is_its_last_state() -> None:
    bars = "".join(f"\rload: {number}%|{'#' * (number // 10)}| {number}/100" for number in range(101))
    found = minimise("python dl.py", 1, f"{bars}\nERROR: checksum mismatch\n")
    assert found is not None
    assert found.text.count("load:") == 1
    assert "ERROR: checksum mismatch" in found.text


def test_a_longer_text_is_left_to_the_window() -> None:
    assert minimise("./x", 0, "same line\n" * (MOST_BYTES // 9)) is None


def _score() -> ModuleType:
    spec = importlib.util.spec_from_file_location("score", CORPUS / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _cases() -> Iterator[Path]:
    if (CORPUS / "dev").is_dir():
        yield from sorted(path.parent for path in (CORPUS / "dev").glob("*/cmd"))


def _read(case: Path) -> tuple[str, int, str]:
    raw = (case / "output").read_bytes().decode("utf-8", "replace")
    return (case / "cmd").read_text().rstrip("\n"), int((case / "exit").read_text()), raw


@pytest.mark.skipif(not (CORPUS / "dev").is_dir(), reason="the recorded outputs are not beside this checkout")
def test_the_recorded_outputs_keep_their_evidence_and_save_what_is_promised() -> None:
    score = _score()
    rows = []
    for case in _cases():
        command, code, raw = _read(case)
        found = minimise(command, code, raw)
        rows.append(score.judge(case, raw if found is None else found.text))
    assert [row["name"] for row in rows if row["lost"] or row["lies"]] == []
    assert score.total(rows)["saved"] >= 85
    assert score.total([row for row in rows if row["family"] != "logs"])["saved"] >= 50


@pytest.mark.parametrize("case", list(_cases()), ids=lambda case: case.name)
def test_a_recorded_output_cut_anywhere_keeps_the_rule(case: Path) -> None:
    command, code, raw = _read(case)
    for part in range(1, 8):
        cut = raw[: len(raw) * part // 7]
        found = shorten(command, code, cut)
        assert found is None or strangers(cut, found.text) == []


@pytest.mark.parametrize("case", list(_cases()), ids=lambda case: case.name)
def test_the_first_of_equal_error_rows_is_shown(case: Path) -> None:
    command, code, raw = _read(case)
    found = shorten(command, code, raw)
    if found is None or "grep" in command:
        return
    plain = settle(strip(raw)).text
    rows = rows_of(plain)
    mark_evidence(rows, plain, detectors())
    shown = _plain(found.text)
    errors = [row.raw for row in rows if row.is_evidence and re.search(r"\berror(?:\[\w+\])?: ", row.raw)]
    assert [line for line in errors if not _is_shown(line, shown)] == []


@pytest.mark.parametrize("case", list(_cases()), ids=lambda case: case.name)
def test_no_evidence_of_a_recorded_output_is_hidden_without_a_right_to_be(case: Path) -> None:
    """Each row that a detector recognises is shown, counted by its like, or of a form that the shipped filters name."""
    command, code, raw = _read(case)
    found = shorten(command, code, raw)
    if found is None or "grep" in command:
        return
    plain = settle(strip(raw)).text
    rows = rows_of(plain)
    mark_evidence(rows, plain, detectors())
    shown = _plain(found.text)
    certain = {_plain(row.raw).strip() for row in rows if row.is_certain}
    forms = {re.sub(r"\d+", "#", line) for line in shown.split("\n")}
    hidden = [line for line in certain if not _is_shown(line, shown)]
    assert [line for line in hidden if re.sub(r"\d+", "#", line) not in forms] == []


def test_rows_are_hidden_in_one_place() -> None:
    """The choke point: no stage sets what hides a row, so no stage can pass by the rule of evidence."""
    folder = Path(minimiser_module.__file__).parent
    setters = [
        path.name for path in folder.glob("*.py") if re.search(r"\.hidden\s*(?:,.*)?=[^=]", path.read_text("utf-8"))
    ]
    assert setters == ["rows.py"]
