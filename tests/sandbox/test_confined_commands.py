"""Commands in a sandbox are commands like any other: same status, output, survivors, sessions, jobs and spares."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

import nacre
from nacre.backends.spare_shells import spares
from nacre.command import SandboxSpec, TerminalSize
from nacre.result import Exited, Signalled, TimedOut
from nacre.sandbox.probing import probe
from sandbox.conftest import needs_bubblewrap, settings

pytestmark = needs_bubblewrap
SETTINGS = settings()


async def test_the_workspace_and_tmp_can_be_written_and_nothing_else(workspace: Path, outside: Path) -> None:
    script = f"echo a > a; echo b > /tmp/b; cat /tmp/b; echo c > {outside}/c; echo d > /etc/nacre-d; echo $?"
    result = await nacre.run(script, cwd=workspace, settings=SETTINGS)
    assert result.text.count("Read-only file system") == 2
    assert result.text.endswith("1\n")
    assert (workspace / "a").read_text() == "a\n"
    assert list(outside.iterdir()) == []
    assert not Path("/tmp/b").exists()


async def test_the_result_says_what_held(workspace: Path) -> None:
    result = await nacre.run("true", cwd=workspace, settings=SETTINGS)
    found = probe(os.environ["PATH"])
    assert result.sandbox == {
        "backend": "bubblewrap",
        "version": found.version,
        "access": "workspace-write",
        "network": "off",
        "writable": [str(workspace)],
        "missing": [],
    }
    line = f"sandbox: bubblewrap {found.version}, access workspace-write ({workspace} and a private /tmp), network off"
    assert result.notices == (line,)
    assert (await nacre.run("true", cwd=workspace, settings=SETTINGS)).notices == ()


async def test_a_failure_is_told_as_the_sandboxes_doing(workspace: Path) -> None:
    result = await nacre.run("touch /etc/nacre-x", cwd=workspace, settings=SETTINGS)
    assert "may be the sandbox's doing" in result.notices[-1]
    assert "sandbox.writable" in result.notices[-1]


async def test_read_only_leaves_tmp_alone_writable(workspace: Path) -> None:
    result = await nacre.run(
        "echo a > a; echo b > /tmp/b && cat /tmp/b", cwd=workspace, settings=settings(access="read-only")
    )
    assert result.outcome == Exited(0)
    assert "a: Read-only file system" in result.text
    assert list(workspace.iterdir()) == []


async def test_full_access_writes_everywhere_without_capabilities(workspace: Path, outside: Path) -> None:
    script = f"echo x > {outside}/x; grep -c 'Cap...:.0000000000000000' /proc/self/status"
    result = await nacre.run(script, cwd=workspace, settings=settings(access="full"))
    assert result.text == "5\n"
    assert (outside / "x").read_text() == "x\n"


async def test_statuses_are_the_shells_own(workspace: Path) -> None:
    async def outcome(script: str, **options: float) -> object:
        return (await nacre.run(script, cwd=workspace, settings=SETTINGS, **options)).outcome  # type: ignore[arg-type]

    assert await outcome("exit 7") == Exited(7)
    assert await outcome("kill -9 $$") == Signalled(9)
    assert await outcome("kill -TERM $$") == Signalled(15)
    late = await nacre.run(
        "trap 'echo bye; exit 3' TERM; sleep 100 & wait", cwd=workspace, settings=SETTINGS, timeout=2
    )
    assert (late.outcome, late.text) == (TimedOut(2, "SIGTERM"), "bye\n")


async def test_stage_codes_are_told(workspace: Path) -> None:
    result = await nacre.run("(exit 4) | cat", cwd=workspace, settings=SETTINGS)
    assert result.stages == (4, 0)


async def test_a_timeout_leaves_nothing(workspace: Path) -> None:
    script = "sleep 987 & setsid sleep 987 & (setsid sleep 987 & ) ; env -i setsid -f sleep 987; sleep 987"
    result = await nacre.run(script, cwd=workspace, settings=SETTINGS, timeout=0.3)
    assert isinstance(result.outcome, TimedOut)
    assert result.survivors == ()
    assert not [pid for pid in os.listdir("/proc") if pid.isdigit() and _command_line(pid) == b"sleep\x00987\x00"]


def _command_line(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


async def test_survivors_are_named_and_the_shell_goes_on(workspace: Path) -> None:
    async with nacre.Session(cwd=workspace, settings=SETTINGS) as session:
        # Until it has become sleep, the child of bash is another bash.
        result = await session.run(
            "x=1; cd /tmp; sleep 100 & until grep -q ^sleep /proc/$!/cmdline; do :; done; echo started"
        )
        assert [one.argv for one in result.survivors] == [("sleep", "100")]
        assert (await session.run("jobs -r | wc -l; echo $x $PWD; kill %1")).text == "1\n1 /tmp\n"


async def test_a_session_keeps_its_state_and_its_tmp(workspace: Path) -> None:
    async with nacre.Session(cwd=workspace, settings=SETTINGS) as session:
        await session.run("cd /tmp; mkdir d; cd d; x=kept; echo file > f")
        await session.run("sleep 100", timeout=0.2)
        result = await session.run("echo $x $PWD; cat f")
        assert result.text == "kept /tmp/d\nfile\n"
        assert "new shell" in result.notices[0]
    async with nacre.Session(cwd=workspace, settings=SETTINGS) as other:
        assert (await other.run("ls -A /tmp | grep -c '^d$'")).text == "0\n"


async def test_where_a_session_goes_does_not_widen_what_it_may_write(workspace: Path, outside: Path) -> None:
    async with nacre.Tool("workspace", cwd=workspace, settings=SETTINGS) as tool:
        await tool.call({"command": f"cd {outside}"})
        for arguments in ({"command": "touch x"}, {"command": "touch x", "cwd": str(outside)}):
            reply = await tool.call(arguments)
            assert "Read-only file system" in reply.text
            assert reply.details["sandbox"]["writable"] == [str(workspace)]
        await tool.call({"command": "touch x", "async": True})
        job = nacre.Tool("job", cwd=workspace, settings=SETTINGS)
        assert "Read-only file system" in (await job.call({"poll": ["bg_1"], "wait": 30})).text
    assert list(outside.iterdir()) == []


async def test_a_job_runs_in_the_sandbox_and_has_its_status(workspace: Path) -> None:
    async with nacre.Tool("workspace", cwd=workspace, settings=SETTINGS) as tool:
        started = await tool.call({"command": "echo out; touch /etc/nacre-j; sleep 0.1; exit 5", "async": True})
        assert started.details["sandbox"]["backend"] == "bubblewrap"
        assert "sandbox: bubblewrap " in started.text
        job = nacre.Tool("job", cwd=workspace, settings=SETTINGS)
        reply = await job.call({"poll": ["bg_1"], "wait": 30})
        assert "exit code 5" in reply.text
        assert "Read-only file system" in reply.text


async def test_what_a_command_leaves_is_a_job_with_a_status(workspace: Path) -> None:
    async with nacre.Tool("workspace", cwd=workspace, settings=SETTINGS) as tool:
        reply = await tool.call({"command": "(sleep 0.5; exit 4) > /dev/null & echo left"})
        assert reply.details["async"]["jobId"] == "bg_1"
        job = nacre.Tool("job", cwd=workspace, settings=SETTINGS)
        assert "exit code 4" in (await job.call({"poll": ["bg_1"], "wait": 30})).text


async def test_spares_are_in_the_sandbox_too(workspace: Path) -> None:
    async def ready() -> None:
        async with asyncio.timeout(30):
            while not any(spare.look() for spare in list(spares._shelf)):
                await asyncio.sleep(0.005)

    for _ in range(3):
        await nacre.run("true", cwd=workspace, settings=SETTINGS)
    await ready()
    taken = {spare.pid for spare in spares._shelf}
    result = await nacre.run("echo $BASH_EXECUTION_STRING; touch /etc/nacre-s", cwd=workspace, settings=SETTINGS)
    assert "Read-only file system" in result.text
    assert taken - {spare.pid for spare in spares._shelf}
    assert all(any(isinstance(one, SandboxSpec) for one in spare.surroundings) for spare in spares._shelf)


async def test_a_terminal_is_the_controlling_one(workspace: Path) -> None:
    async with nacre.Tool("workspace", cwd=workspace, settings=SETTINGS, ui=True) as tool:
        reply = await tool.call(
            {"command": "tty; test -t 0 && echo a terminal; : > /dev/tty && stty size", "pty": True}
        )
        assert reply.text.splitlines()[:2] == ["/dev/console", "a terminal"]
        assert reply.text.splitlines()[2] == f"{TerminalSize().rows} {TerminalSize().columns}"


async def test_protected_names_stay_as_they_are(workspace: Path) -> None:
    git = workspace / ".git"
    git.mkdir()
    (git / "config").write_text("[core]\n")
    (workspace / ".claude").mkdir()
    script = """
    mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; echo x >> .git/config; mv .git .other; rm -rf .claude
    echo x > nacre.toml; mkdir -p .vscode && echo x > .vscode/settings.json; ln -s .git g; echo x > g/hooks/post-commit
    echo x > .git/HEAD; git init -q sub && ls -A
    """
    result = await nacre.run(script, cwd=workspace, settings=SETTINGS)
    assert (git / "config").read_text() == "[core]\n"
    assert (git / "HEAD").read_text() == "x\n"
    assert sorted(path.name for path in git.iterdir() if path.stat().st_size and path.is_file()) == ["HEAD", "config"]
    assert not list(workspace.rglob("pre-commit")), result.text


async def test_placeholders_are_gone_when_the_sandbox_is(workspace: Path) -> None:
    script = "import nacre; print(nacre.run_sync('ls -A').text)"
    environ = {**os.environ, "NACRE_SANDBOX": "required"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=workspace, env=environ, capture_output=True, text=True, check=True
    )
    assert "nacre.toml" in done.stdout.split()
    async with asyncio.timeout(30):
        while list(workspace.iterdir()):
            await asyncio.sleep(0.01)


async def test_credentials_are_hidden(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    for name in (".ssh/id_ed25519", ".netrc", ".config/gh/hosts.yml", ".aws/credentials"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("secret")
    (home / ".gitconfig").write_text("plain")
    (workspace / ".env").write_text("secret")
    (workspace / ".env.example").write_text("plain")
    monkeypatch.setenv("HOME", str(home))
    script = "cat ~/.ssh/* ~/.netrc ~/.config/gh/* ~/.aws/credentials .env; cat ~/.gitconfig .env.example"
    result = await nacre.run(script, cwd=workspace, settings=SETTINGS)
    assert "secret" not in result.text
    assert result.text.endswith("plainplain")
    shown = await nacre.run("cat ~/.netrc", cwd=workspace, settings=settings(visible=("~/.netrc",)))
    assert shown.text == "secret"


async def test_a_background_command_is_confined_too(workspace: Path) -> None:
    async with nacre.Tool("modes", cwd=workspace, settings=SETTINGS) as tool:
        reply = await tool.call({"command": "touch /etc/nacre-m; echo done", "mode": "background"})
        assert "<pid>" in reply.text
        output = Path(reply.details["outputFile"])
        async with asyncio.timeout(30):
            while "done" not in output.read_text(encoding="utf-8"):
                await asyncio.sleep(0.01)
        assert "Read-only file system" in output.read_text(encoding="utf-8")
