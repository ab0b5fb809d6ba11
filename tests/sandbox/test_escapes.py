"""No attempt of `escape_attempts.py` comes through, for root and for a plain user, and nothing outside has changed."""

from __future__ import annotations

import ast
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from sandbox.conftest import needs_bubblewrap, python_of

SCRIPT = Path(__file__).with_name("escape_attempts.py")
SOURCE = Path(__file__).resolve().parents[2] / "src"
SECRET = "hunter2-of-nacre"
# A user that no machine has; only its number matters.
PLAIN_USER = 54321
NOT_ATTEMPTS = {"checked", "call", "succeeds", "main"}
ATTEMPTS = [
    node.name
    for node in ast.parse(SCRIPT.read_text(encoding="utf-8")).body
    if isinstance(node, ast.FunctionDef) and node.name not in NOT_ATTEMPTS
]
# What Landlock with seccomp does not refuse: it hides nothing, protects no names, and knows no modes of files.
LANDLOCK_LETS_THROUGH = {
    "change_mode_outside",
    "see_outside_process",
    "hook_through_symlink",
    "hook_after_rename",
    "git_configuration",
    "settings_of_nacre",
    "credential_files",
}

RUN = """\
import json, sys
import nacre
from nacre.settings import SandboxSettings, Settings, ShellSettings
mode, python, script, targets, workspace = sys.argv[1:]
settings = Settings(shell=ShellSettings(snapshot=False), sandbox=SandboxSettings(mode=mode))
result = nacre.run_sync(f"{python} {script} {targets}", cwd=workspace, settings=settings, timeout=120)
print(json.dumps({"text": result.text, "sandbox": dict(result.sandbox), "notices": list(result.notices)}))
"""


class Outcome(NamedTuple):
    """What came of the attempts of one user."""

    attempts: dict[str, str]
    sandbox: dict[str, object]
    outside: list[str]
    kept: str
    mode: int
    victim_lives: bool
    connections: int


def _attempt(user: int, *, path: str | None = None, mode: str = "required") -> Outcome:
    python = python_of(user)
    if python is None:
        pytest.skip(f"there is no Python {sys.version_info[:2]} here that user {user} can start")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as base:
        return _attempt_in(Path(base), user, python, path=path, mode=mode)


def _attempt_in(base: Path, user: int, python: str, *, path: str | None, mode: str) -> Outcome:
    home, outside, workspace = (base / name for name in ("home", "outside", "workspace"))
    for directory in (home / ".ssh", outside, workspace / ".git"):
        directory.mkdir(parents=True)
    (home / ".ssh" / "id_rsa").write_text("key", encoding="utf-8")
    (home / ".netrc").write_text("password", encoding="utf-8")
    (workspace / ".env").write_text("token", encoding="utf-8")
    (workspace / ".git" / "config").write_text("[core]\n", encoding="utf-8")
    (outside / "kept").write_text("kept", encoding="utf-8")
    (outside / "kept").chmod(0o600)
    script = Path(shutil.copy(SCRIPT, base / "escape_attempts.py"))
    victim = subprocess.Popen(["sleep", "300"], user=user, env={"SECRET": SECRET})
    listeners = {
        "tcp4": socket.create_server(("127.0.0.1", 0)),
        "tcp6": socket.create_server(("::1", 0), family=socket.AF_INET6),
        "udp": socket.socket(type=socket.SOCK_DGRAM),
        "docker": socket.socket(socket.AF_UNIX),
        "inside": socket.socket(socket.AF_UNIX),
        "abstract": socket.socket(socket.AF_UNIX),
    }
    listeners["udp"].bind(("127.0.0.1", 0))
    listeners["docker"].bind(str(outside / "docker.sock"))
    listeners["inside"].bind(str(workspace / "docker.sock"))
    listeners["abstract"].bind(f"\0nacre-{os.getpid()}-{user}")
    for name in ("docker", "inside", "abstract"):
        listeners[name].listen()
    targets = {name: listeners[name].getsockname()[1] for name in ("tcp4", "tcp6", "udp")}
    everything = {
        **targets,
        "outside": str(outside),
        "docker": str(outside / "docker.sock"),
        "abstract": f"nacre-{os.getpid()}-{user}",
        "victim": victim.pid,
        "secret": SECRET,
        "credentials": [str(home / ".ssh"), str(home / ".netrc"), str(workspace / ".env")],
    }
    (base / "targets.json").write_text(json.dumps(everything), encoding="utf-8")
    for one in [base, *base.rglob("*")]:
        os.chown(one, user, user)
    environ = {
        "PATH": os.environ["PATH"] if path is None else path,
        "HOME": str(home),
        "NACRE_HOME": str(base / "state"),
        "PYTHONPATH": os.pathsep.join([str(SOURCE), *(one for one in sys.path if one.endswith("site-packages"))]),
        "SECRET": SECRET,
    }
    words = [python, "-c", RUN, mode, python, str(script), str(base / "targets.json"), str(workspace)]
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            user=user,
            group=user,
            extra_groups=[],
            env=environ,
            cwd="/",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        lines = [json.loads(line) for line in answer["text"].splitlines() if line.startswith("[")]
        return Outcome(
            attempts=dict(lines),
            sandbox=answer["sandbox"],
            outside=sorted(one.name for one in outside.iterdir()),
            kept=(outside / "kept").read_text(encoding="utf-8"),
            mode=(outside / "kept").stat().st_mode & 0o777,
            victim_lives=victim.poll() is None,
            connections=sum(_has_arrived(listener) for listener in listeners.values()),
        )
    finally:
        victim.kill()
        victim.wait()
        for listener in listeners.values():
            listener.close()


def _has_arrived(listener: socket.socket) -> bool:
    listener.setblocking(False)
    try:
        if listener.type == socket.SOCK_DGRAM:
            listener.recv(1)
        else:
            listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def _users() -> list[int]:
    return [0, PLAIN_USER] if os.geteuid() == 0 else [os.geteuid()]


@pytest.fixture(scope="module", params=_users(), ids=lambda user: "root" if user == 0 else "user")
def outcome(request: pytest.FixtureRequest) -> Outcome:
    """The attempts of one user under bubblewrap, made once."""
    return _attempt(request.param)


@needs_bubblewrap
@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_an_attempt_is_refused(attempt: str, outcome: Outcome) -> None:
    assert outcome.sandbox["backend"] == "bubblewrap"
    assert outcome.attempts[attempt].startswith("refused: "), outcome.attempts[attempt]


@needs_bubblewrap
def test_nothing_outside_has_changed(outcome: Outcome) -> None:
    assert (outcome.outside, outcome.kept, outcome.mode) == (["docker.sock", "kept"], "kept", 0o600)
    assert outcome.victim_lives
    assert outcome.connections == 0


@pytest.fixture(scope="module", params=_users(), ids=lambda user: "root" if user == 0 else "user")
def landlocked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The same under Landlock with seccomp, where there is no bubblewrap."""
    directory = tmp_path_factory.mktemp("programs")
    for name in ("sleep", "mount", "unshare", "env"):
        if (found := shutil.which(name)) is not None:
            (directory / name).symlink_to(found)
    return _attempt(request.param, path=str(directory), mode="auto")


@pytest.mark.parametrize("attempt", [name for name in ATTEMPTS if name not in LANDLOCK_LETS_THROUGH])
def test_an_attempt_is_refused_by_landlock(attempt: str, landlocked: Outcome) -> None:
    if landlocked.sandbox["backend"] == "none":
        pytest.skip("this kernel has no Landlock of ABI 6")
    assert landlocked.sandbox["backend"] == "landlock"
    assert landlocked.attempts[attempt].startswith("refused: "), landlocked.attempts[attempt]


def test_nothing_outside_has_changed_under_landlock(landlocked: Outcome) -> None:
    if landlocked.sandbox["backend"] == "none":
        pytest.skip("this kernel has no Landlock of ABI 6")
    assert (landlocked.outside, landlocked.kept) == (["docker.sock", "kept"], "kept")
    assert landlocked.victim_lives
    assert landlocked.connections == 0


@pytest.mark.parametrize("attempt", sorted(LANDLOCK_LETS_THROUGH))
def test_what_landlock_lets_through_is_said(attempt: str, landlocked: Outcome) -> None:
    """The table of the guide is true in both directions."""
    if landlocked.sandbox["backend"] == "none":
        pytest.skip("this kernel has no Landlock of ABI 6")
    assert landlocked.attempts[attempt].startswith("ESCAPED: ")
    assert landlocked.sandbox["missing"] == [
        "credential files are hidden",
        "other processes are out of sight",
        "a private /tmp",
        "modes and times of files outside stay as they are",
        "protected names stay as they are",
    ]
