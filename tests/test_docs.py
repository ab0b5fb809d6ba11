"""The documentation cannot rot: every verb and setting is in it, examples are run, links lead somewhere."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from nacre import config
from nacre.cli import VERBS
from nacre.contracts import contract_names

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
REFERENCE = ROOT / "docs" / "reference"
PATIENCE_SECONDS = 30.0


def load_renderer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("render", REFERENCE / "render.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RENDERER = load_renderer()


@pytest.mark.parametrize("page", RENDERER.PAGES)
def test_the_reference_pages_are_what_the_code_renders(page: str) -> None:
    rendered = RENDERER.PAGES[page]()
    assert (REFERENCE / page).read_text(encoding="utf-8") == rendered, "run `python docs/reference/render.py`"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_in_the_reference(verb: str) -> None:
    text = (REFERENCE / "command-line.md").read_text(encoding="utf-8")
    assert f"\n## nacre {verb}\n\n{VERBS[verb][0].upper()}{VERBS[verb][1:]}.\n" in text


def test_every_setting_and_its_variable_is_in_the_reference() -> None:
    text = (REFERENCE / "settings.md").read_text(encoding="utf-8")
    missing = [
        f"{section}.{field.name}"
        for section, kind in config.sections().items()
        for field in dataclasses.fields(kind)
        if f"| `{section}.{field.name}`<br>`{config.variable_of(field.name)}` |" not in text
    ]
    assert missing == []


GUIDES = "\n".join(page.read_text(encoding="utf-8") for page in sorted(ROOT.glob("docs/guides/*.md")))


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def environment() -> dict[str, str]:
    # The commands as their users find them: beside the interpreter that the tests run in.
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def run(argv: list[str]) -> str:
    done = subprocess.run(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment(),
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    return done.stdout.decode()


def sessions(text: str = README) -> list[tuple[str, str]]:
    """Each command of a text's terminal sessions, and what it prints."""
    return [
        (command, output)
        for block in blocks("console", text)
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    ]


def test_the_readme_shows_command_line_and_tool_call() -> None:
    commands = " ".join(command for command, _ in sessions())
    assert ("nacre run" in commands, "nacre call" in commands) == (True, True)


@pytest.mark.parametrize(("command", "output"), [*sessions(), *sessions(GUIDES)])
def test_a_terminal_session_is_true(command: str, output: str) -> None:
    assert run(["bash", "-c", command]) == output


def test_the_library_example_of_the_readme_is_true() -> None:
    (example,), (output,) = blocks("python"), blocks("text")
    assert run([sys.executable, "-c", example]) == output


def test_the_contracts_of_the_readme_exist() -> None:
    named = re.findall(r"^\| `(\w+)` \|", README, re.MULTILINE)
    assert named
    assert set(named) <= set(contract_names())


def test_the_commands_of_the_readme_are_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    used = set(re.findall(r"^make (\w+)", "\n".join(blocks("sh")), re.MULTILINE))
    assert used == {"run", "test"}
    assert used <= set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))


@pytest.mark.parametrize("page", [*sorted(ROOT.glob("docs/**/*.md")), ROOT / "README.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
