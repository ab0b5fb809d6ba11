"""The documentation cannot rot: every verb and setting is in it, examples are run, links lead somewhere."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

from nacre import config, contracts, setting_values
from nacre.cli import VERBS
from nacre.contracts import contract_names
from nacre.guard.policy import Policy
from nacre.guard.rules.rule_file import load_rules
from nacre.settings import RuleName
from nacre.testing import CHECKS, check_backend
from nacre.tool import Tool

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
        key
        for key, setting in setting_values.all_settings().items()
        if f"| `{key}`<br>`{setting.variable}` |" not in text
    ]
    assert missing == []


def test_the_guide_to_the_guard_names_every_rule_with_its_default() -> None:
    guide = (ROOT / "docs/guides/guard.md").read_text(encoding="utf-8")
    rows = [line.replace("\\|", "").split(" | ") for line in guide.splitlines() if line.startswith("| `")]
    assert sorted(row[0].strip("| `") for row in rows) == sorted(get_args(RuleName))
    defaults = {row[0].strip("| `"): row[3].strip(" |") for row in rows}
    for name, said in defaults.items():
        elsewhere = Policy().decision(name)
        assert f"elsewhere: {elsewhere}" in said or said.startswith(elsewhere)


def test_the_examples_of_the_guide_to_the_guard_load(tmp_path: Path) -> None:
    guide = (ROOT / "docs/guides/guard.md").read_text(encoding="utf-8")
    settings, rules = re.findall(r"```toml\n(.*?)```", guide, re.DOTALL)
    (tmp_path / "nacre").mkdir()
    (tmp_path / "nacre" / "nacre.toml").write_text(settings, encoding="utf-8")
    loaded = config.load({"XDG_CONFIG_HOME": str(tmp_path)}, cwd="/").settings
    assert loaded.policy.rules == (("no_force_push", "ask"), ("no_blind_git_add", "deny"))
    assert [rule.decision for rule in load_rules(rules, "rules.toml")] == ["allow", "deny"]


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


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_readme_installs_by_one_line_each_and_has_five_examples() -> None:
    lines = re.findall(r"^\| [^|]+ \| `([^`]+)` \|$", README.partition("## Five examples")[0], re.MULTILINE)
    assert [line.split()[0] for line in lines] == ["pip", "uvx", "claude", "codex"]
    assert all("nacre-shell" in line for line in lines)
    examples = README.partition("## Five examples")[2].partition("\n## ")[0]
    assert len(re.findall(r"^\*\*", examples, re.MULTILINE)) == 5


def test_no_line_tells_a_user_to_install_the_package_of_another_project() -> None:
    files = [
        path
        for pattern in ("*.md", "docs/**/*.md", "docs/*.1", "src/**/*.py", "examples/*", "*.json", "Makefile")
        for path in ROOT.glob(pattern)
        if path.is_file()
    ]
    wrong = re.compile(
        r"(?:pip3? install|pipx (?:install|run)|uvx|uv (?:tool install|add|pip install))"
        r"[^\n`]*[ '\"]nacre(?!-shell)\b(?! mcp)"
    )
    found = [path.name for path in files if wrong.search(path.read_text(encoding="utf-8").replace("add nacre --", ""))]
    assert found == []


@pytest.mark.slow
def test_the_tour_shows_what_it_says_and_the_picture_is_made_from_it() -> None:
    tour = load(ROOT / "docs" / "tour.py")
    picture = (ROOT / "docs" / "picture.svg").read_text(encoding="utf-8")
    played = {step: (shown, code) for step, shown, code in tour.play()}
    server, flood, secret, failure, deletion, timeout = played.values()
    assert server[1] == 0
    assert "started\n" in server[0]
    assert "nacre: still running: pid " in server[0]
    assert flood[0].startswith("1\n2\n")
    assert "omitted" in flood[0]
    assert secret == ("[]\nthe key is [redacted:DEMO_API_KEY]\n", 0)
    assert failure == ("nacre: a pipe hides a failure: stage 1 exited with 1\n", 0)
    assert (deletion[1], "no_dangerous_rm" in deletion[0]) == (126, True)
    assert timeout == ("nacre: timed out after 1 s; everything was ended\n", 124)
    for step in list(played)[:5]:
        assert f"# {step.title}" in picture
    assert "a pipe hides a failure: stage 1 exited with 1" in picture
    assert "no_dangerous_rm" in picture


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


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def recipe(name: str) -> type:
    """The class of that name in a code block of CONTRIBUTING.md."""
    (block,) = (block for block in blocks("python", CONTRIBUTING) if f"class {name}:" in block)
    names: dict[str, type] = {}
    exec(block, names)
    return names[name]


async def test_the_contract_of_the_recipe_is_a_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("terse")
    module.Terse = recipe("Terse")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "terse", module)
    monkeypatch.setitem(contracts._CONTRACTS, "terse", ("terse", "Terse"))
    async with Tool("terse") as tool:
        assert tool.schema()["name"] == "bash"
        reply = await tool.call({"command": "echo hi; exit 3"})
        refused = await tool.call({"comand": "echo hi"})
    assert (reply.text, reply.is_error) == ("3: hi\n", True)
    assert (refused.is_error, "comand" in refused.text) == (True, True)


async def test_the_backend_of_the_recipe_keeps_the_contract() -> None:
    backend = recipe("Counting")()
    await check_backend(backend)
    assert backend.started >= len(CHECKS)


def test_the_commands_of_the_recipes_are_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", CONTRIBUTING)) <= targets


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "SECURITY.md"])
def test_the_files_that_a_page_names_exist(page: str) -> None:
    named = re.findall(r"\b((?:src|tests|docs)/[\w/]+(?:\.\w+)?)", (ROOT / page).read_text(encoding="utf-8"))
    assert named
    # The recipe of a contract names the test that is to be written.
    assert [path for path in named if "terse" not in path and not (ROOT / path).exists()] == []


def test_every_module_that_a_design_page_names_exists() -> None:
    pages = [*ROOT.glob("docs/design/*.md"), *ROOT.glob("docs/decisions/*.md")]
    named = {name for page in pages for name in re.findall(r"`([\w/]+\.py)`", page.read_text(encoding="utf-8"))}
    # A page may name the neighbours of a module by their file names alone.
    files = {str(path.relative_to(ROOT)) for path in [*ROOT.glob("src/**/*.py"), *ROOT.glob("[tb]*/**/*.py")]}
    assert sorted(name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in files)) == []


def test_every_decision_record_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    assert linked == {page.name for page in folder.glob("*.md")} - {"README.md"}


PAGES = [*sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


STATEMENTS = (ROOT / "docs" / "statements.md").read_text(encoding="utf-8")
STATEMENT_ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in STATEMENTS.splitlines()
    if re.match(r"\| (?:[BNWX]|REQ-BASH-)\d+ \|", line)
]
# The rows of these tests are numbered as the statements are.
NUMBERED = {"test_workspace_statements.py": "W", "test_workspace_steps.py": "X", "test_workspace_surfaces.py": "X"}


def functions(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_module_that_the_statements_name_exists() -> None:
    named = {name for row in STATEMENT_ROWS for name in re.findall(r"`([\w/]+\.py)`", row[3])}
    assert sorted(name for name in named if not (ROOT / "src" / "nacre" / name).exists()) == []


FAULTS = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")


RELIABILITY = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "page", [STATEMENTS, FAULTS, RELIABILITY, SECURITY], ids=["statements", "faults", "reliability", "security"]
)
def test_every_test_that_a_page_names_exists(page: str) -> None:
    named: dict[str, set[str]] = {}
    for file, function in re.findall(r"`([\w/]+\.py)::(\w+)`", page):
        named.setdefault(file, set()).add(function)
    assert named
    gone = {file: names for file, names in named.items() if not (ROOT / "tests" / file).exists()}
    assert gone == {}
    missing = {file: names - functions(ROOT / "tests" / file) for file, names in named.items()}
    assert {file: names for file, names in missing.items() if names} == {}


def test_every_statement_has_code_and_a_test_or_says_that_it_is_not_built() -> None:
    assert [row[0] for row in STATEMENT_ROWS if row[3] != "not yet" and "`" not in row[3]] == []
    assert [row[0] for row in STATEMENT_ROWS if row[3] != "not yet" and "::" not in row[4]] == []


def test_every_decision_that_the_statements_name_is_in_the_contracts() -> None:
    contracts = (ROOT / "docs" / "contracts.md").read_text(encoding="utf-8")
    named = {name for row in STATEMENT_ROWS for name in row[2].split(", ") if name}
    assert sorted(name for name in named if not re.search(rf"\b{name}\b", contracts)) == []


@pytest.mark.parametrize("file", NUMBERED)
def test_every_numbered_row_of_the_tests_is_a_statement(file: str) -> None:
    text = (ROOT / "tests" / "contracts" / file).read_text(encoding="utf-8")
    numbers = re.findall(r"(?:number=|refused\(\s*|^ *\()(\d+),", text, re.MULTILINE)
    assert numbers
    known = {row[0] for row in STATEMENT_ROWS}
    assert sorted({f"{NUMBERED[file]}{number}" for number in numbers} - known) == []


def test_the_map_of_the_fault_cases_is_complete() -> None:
    cases = {int(number) for number in re.findall(r"^\| (\d+) \|", FAULTS, re.MULTILINE)}
    rows = dict(re.findall(r"^\| (\d+) \| (`\w+/[\w/]*\.py::.*) \|$", FAULTS, re.MULTILINE))
    assert cases == {*range(1, 96)} == {int(number) for number in rows}
    # `python docs/fault_map.py` writes the rows.
    assert [case for case, row in rows.items() if not re.search(rf"::test_case_0*{case}_", row)] == []
    sources = [file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py")]
    tested = {int(number) for text in sources for number in re.findall(r"def test_case_(\d+)_", text)}
    assert tested == cases


def test_every_promise_names_the_tests_that_prove_it() -> None:
    promises = re.findall(r"^\| P(\d+) .* \| (.*) \|$", RELIABILITY, re.MULTILINE)
    assert [int(number) for number, _ in promises] == [*range(1, 13)]
    assert [number for number, proofs in promises if "::test_" not in proofs] == []
    contracts = (ROOT / "docs" / "contracts.md").read_text(encoding="utf-8")
    assert [number for number, _ in promises if not re.search(rf"\bP{number} ", contracts)] == []
