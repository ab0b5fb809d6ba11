"""Imports go down only, importing nacre is free, and the far side stands alone."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "nacre"

# From the top to the bottom; a module may import from its own layer and from those below.
LAYERS = [
    {"cli"},
    {"mcp", "rpc", "acp", "adapters", "tui", "web"},
    {"cluster"},
    {"tool", "tool_events", "tool_replies", "tool_routes", "tool_shell", "api", "series", "terminals"},
    {"json_lines", "http_server"},
    {"contracts"},
    {"engine", "testing"},
    {"feed"},
    {"sessions", "jobs", "undo", "tries", "remote"},
    {"artifacts", "backends"},
    {"planning"},
    {"sandbox"},
    {"guard", "environment", "minimize"},
    {"profile", "kept_command"},
    {"bash", "output", "screen"},
    {"audit", "config"},
    {"setting_sources"},
    {"state_directory", "state_worker"},
    {"regular_file"},
    {"warden_client"},
    {"warden"},
    {
        "until",
        "request",
        "lifted_stage",
        "command",
        "backend",
        "place",
        "result",
        "settings",
        "setting_values",
        "call_budget",
        "setting_table",
        "budget_words",
        "errors",
        "regex",
        "forks",
        "wording",
        "numbered_entries",
        "daemon_thread",
        "complaints",
        "handover",
        "network_hosts",
        "sandbox_settings",
    },
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
# Each surface is on its own; the command line only starts them.
APART = {"mcp", "rpc", "acp", "adapters", "tui", "web"}
# Third-party package → the one folder that may import it.
HOMES = {
    "acp": "acp",
    "asyncssh": "remote",
    "ray": "remote",
    "pyghostty": "screen",
    "pyte": "screen",
    "rich": "tui",
    "textual": "tui",
    "tree_sitter": "bash",
    "tree_sitter_bash": "bash",
    **dict.fromkeys(("mcp", "anyio", "opentelemetry", "pydantic"), "mcp"),
    "starlette": "web",
    "uvicorn": "http_server",
}
# What adapters may import: each framework, and what it is built on where its interface is made of that.
FRAMEWORKS = {
    "agents",
    "anthropic",
    "inspect_ai",
    "langchain_core",
    "pydantic",
    "pydantic_ai",
    "pydantic_core",
    "smolagents",
    "swerex",
    "harbor",
    "verifiers",
}


def _modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def _imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            if node.module == "nacre":
                found |= {f"nacre.{alias.name}" for alias in node.names}
    return found


def _part(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _own_part(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_down_only(path: Path) -> None:
    own = _own_part(path)
    if own in ("__init__", "__main__"):
        return
    for module in _imports(path):
        if module.startswith("nacre.") and (part := _part(module)) in RANK and part != own:
            assert RANK[part] >= RANK[own], f"{own} imports {module} from above"
            assert not (part in APART and own in APART), f"{own} imports another surface, {module}"


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_part_has_a_layer_and_every_library_one_home(path: Path) -> None:
    own = _own_part(path)
    assert own in RANK or own in ("__init__", "__main__"), f"{own} has no layer"
    for module in _imports(path):
        top = module.split(".")[0]
        if top != "nacre" and top not in sys.stdlib_module_names:
            assert HOMES.get(top) == own or (own == "adapters" and top in FRAMEWORKS), f"{own} imports {module}"


def test_importing_nacre_imports_nothing_third_party() -> None:
    script = (
        "import sys; import nacre; nacre.Tool; nacre.run; nacre.errors\n"
        "import nacre.api\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('tree_sitter', 'tree_sitter_bash', 'mcp', "
        "'acp', 'pydantic', 'starlette')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


FAR_SIDE = sorted((SOURCE / "warden").glob("*.py"))


@pytest.mark.parametrize("path", FAR_SIDE, ids=lambda path: path.name)
def test_the_far_side_imports_the_standard_library_and_itself_only(path: Path) -> None:
    for module in _imports(path):
        own = module == "nacre.warden" or module.startswith("nacre.warden.")
        assert own or module.split(".")[0] in sys.stdlib_module_names, f"{path.name} imports {module}"


@pytest.mark.parametrize("path", FAR_SIDE, ids=lambda path: path.name)
def test_the_far_side_parses_as_python_3_9(path: Path) -> None:
    """Other machines may have no newer interpreter."""
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))


def test_the_far_side_starts_from_its_folder_alone(tmp_path: Path) -> None:
    package = tmp_path / "nacre"
    shutil.copytree(SOURCE / "warden", package / "warden")
    (package / "__init__.py").touch()
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import nacre.warden.zygote; print('ok')"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("ok\n", "")
