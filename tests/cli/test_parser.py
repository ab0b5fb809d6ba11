"""Help: every verb explains itself, and a word that is no verb is answered with the nearest one."""

from __future__ import annotations

import pytest

from cli.conftest import Finished, Nacre
from nacre import __version__, cli
from nacre.cli import VERBS


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]], ids=["none", "long", "short", "verb"])
def test_the_first_page_names_every_verb_with_its_summary(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 0
    page = capsys.readouterr()
    assert page.err == ""
    lines = [line.strip() for line in page.out.splitlines()]
    assert [line for line in lines if line in [f"{name:<11} {text}" for name, text in VERBS.items()]] == [
        f"{name:<11} {text}" for name, text in VERBS.items()
    ]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself_on_stdout(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.main([verb, "--help"])
    page = capsys.readouterr()
    assert (code, page.err) == (0, "")
    assert page.out.startswith(f"usage: nacre {verb} ")
    assert f"{VERBS[verb][0].upper()}{VERBS[verb][1:]}." in page.out


def test_a_word_that_is_no_verb_is_answered_with_the_nearest_one(nacre: Nacre) -> None:
    assert nacre("rnu", "--", "true") == Finished(
        2, "", "nacre: there is no verb 'rnu'. Did you mean 'run'? See nacre --help.\n"
    )
    assert nacre("xyzzy") == Finished(2, "", "nacre: there is no verb 'xyzzy'. See nacre --help.\n")


def test_the_version_is_the_package_s(nacre: Nacre) -> None:
    assert nacre("--version") == Finished(0, f"nacre {__version__}\n", "")


def test_help_without_a_reader_causes_no_traceback(nacre: Nacre) -> None:
    import subprocess

    inside = f"{' '.join(nacre.argv)} --help >/dev/full; echo $?"
    done = subprocess.run(["bash", "-c", inside], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("125\n", "nacre: a read or write failed: No space left on device\n")


@pytest.mark.parametrize("verb", VERBS)
def test_help_and_a_verb_explains_the_verb(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help", verb]) == 0
    assert capsys.readouterr().out.startswith(f"usage: nacre {verb} ")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["run", "--timeout", "soon", "--", "true"], "argument --timeout: must be a number, got 'soon'"),
        (["log", "-n", "1.5"], "argument -n/--last: must be a whole number, got '1.5'"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_in_plain_words(nacre: Nacre, arguments: list[str], problem: str) -> None:
    assert nacre(*arguments).err.endswith(f"nacre {arguments[0]}: error: {problem}\n")
