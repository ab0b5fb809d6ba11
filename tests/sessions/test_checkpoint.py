"""The guard in a session: what one call defines is known when the next one is judged."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nacre import Session, Settings, Tool
from nacre.errors import DeniedError
from nacre.sessions import rc_file

PAIRS = [
    ("R='rm -rf'", "$R .git"),
    ("R=rm; F=-rf", '"$R" "$F" .git'),
    ("T=.git", 'rm -rf "$T"'),
    ("export T=.git", "bash -c 'rm -rf $T'"),
    ("a=(rm -rf .git)", '"${a[@]}"'),
    ("declare -A d=([x]=.git)", 'rm -rf "${d[x]}"'),
    ("set -- rm -rf .git", '"$@"'),
    ('clean() { rm -rf "$@"; }', "clean .git"),
    ('gp() { git push "$@"; }', "gp -f"),
    ('gp() { git push "$@"; }', "gp --force"),
    ("shopt -s expand_aliases; alias gp='git push'", "gp -f"),
    ("shopt -s expand_aliases\nalias gone='rm -rf'", "gone .git"),
    ('rm() { command rm -v "$@"; }', "rm -rf .git"),
    ("mkdir -p sub; cd sub", "rm -rf ../.git"),
    ("mkdir -p sub; cd sub", 'rm -rf "$OLDPWD"'),
    ("mkdir -p sub; cd sub", "cd - && rm -rf ../project"),
]


@contextmanager
def refused() -> Iterator[None]:
    """A rule refuses it; that it could not be judged is another matter."""
    with pytest.raises(DeniedError) as caught:
        yield
    assert caught.value.rule in ("no_dangerous_rm", "no_force_push")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    (place / ".git").mkdir(parents=True)
    (place / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return place


@pytest.mark.parametrize(("first", "second"), PAIRS)
async def test_a_session_refuses_what_an_earlier_command_has_prepared(project: Path, first: str, second: str) -> None:
    async with Session(cwd=project) as session:
        assert (await session.run(first)).ok
        with refused():
            await session.run(second)
        assert (await session.run("echo goes on")).text == "goes on\n"
    assert (project / ".git" / "HEAD").exists()


@pytest.mark.parametrize("contract", ["workspace", "anthropic"])
@pytest.mark.parametrize(("first", "second"), [PAIRS[0], PAIRS[4], PAIRS[6], PAIRS[7], PAIRS[8], PAIRS[11]])
async def test_a_tool_refuses_what_an_earlier_call_has_prepared(
    project: Path, contract: str, first: str, second: str
) -> None:
    async with Tool(contract, cwd=str(project)) as tool:
        assert not (await tool.call({"command": first})).is_error
        reply = await tool.call({"command": second})
        assert reply.is_error
        assert reply.text.startswith("denied by nacre's guard (rule ")
        assert "could not be checked" not in reply.text
        assert (await tool.call({"command": "echo goes on"})).text.startswith("goes on")
    assert (project / ".git" / "HEAD").exists()


async def test_a_job_of_a_session_is_judged_with_its_state(project: Path) -> None:
    async with Tool("workspace", cwd=str(project)) as tool:
        await tool.call({"command": "R='rm -rf'"})
        await tool.call({"command": "echo the state is written down"})
        reply = await tool.call({"command": "$R .git", "async": True})
        assert reply.is_error
        assert reply.text.startswith("denied by nacre's guard (rule ")
        assert "could not be checked" not in reply.text
    assert (project / ".git" / "HEAD").exists()


async def test_a_command_that_waits_for_its_turn_is_judged_with_the_state_that_it_finds(project: Path) -> None:
    async with Session(cwd=project) as session:
        await session.run("true")
        first = asyncio.create_task(session.run("read -t 0.3 <> <(:); R='rm -rf'"))
        await asyncio.sleep(0)
        with refused():
            await session.run("$R .git")
        await first
    assert (project / ".git" / "HEAD").exists()


async def test_a_variable_of_the_session_makes_a_harmless_removal_possible(project: Path) -> None:
    (project / "build" / "x").mkdir(parents=True)
    async with Session(cwd=project) as session:
        with refused():
            await session.run('rm -rf "$BUILD"/*')
        await session.run("BUILD=build")
        assert (await session.run('rm -rf "$BUILD"/*')).ok
        assert not (project / "build" / "x").exists()
        # The verdict of the same words is not kept when the state has changed.
        await session.run("BUILD=")
        with refused():
            await session.run('rm -rf "$BUILD"/*')
        await session.run("unset BUILD")
        with refused():
            await session.run('rm -rf "$BUILD"/*')


async def test_a_function_that_shadows_a_program_is_what_is_judged(project: Path) -> None:
    async with Session(cwd=project) as session:
        await session.run("rm() { echo would remove; }")
        assert (await session.run("rm -rf .git")).text == "would remove\n"
        await session.run("unset -f rm")
        with refused():
            await session.run("rm -rf .git")


async def test_a_variable_of_the_call_alone_is_judged_before_that_of_the_session(project: Path) -> None:
    async with Session(cwd=project) as session:
        await session.run("T=build")
        with refused():
            await session.run('rm -rf "$T"', env={"T": ".git"})
        assert (await session.run('rm -rf "$T"')).ok


async def test_a_target_that_only_the_session_makes_recursive_is_watched_while_it_runs(project: Path) -> None:
    (project / "name").write_text(".git\n")
    async with Session(cwd=project) as session:
        await session.run("R='rm -rf'")
        assert "rm: refused by nacre" in (await session.run('$R "$(cat name)"')).text
    assert (project / ".git" / "HEAD").exists()


async def test_the_state_of_a_shell_that_was_lost_is_still_known(project: Path) -> None:
    async with Session(cwd=project) as session:
        await session.run("R='rm -rf'")
        await session.run("sleep 30", timeout=0.3)
        with refused():
            await session.run("$R .git")
    assert (project / ".git" / "HEAD").exists()


async def test_what_the_users_rc_defines_is_known(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "user"
    home.mkdir()
    (home / rc_file.RC_NAME).write_text('gp() { git push "$@"; }\n', encoding="utf-8")
    monkeypatch.setenv("HOME", str(home))
    async with Tool("workspace", cwd=str(project), settings=Settings()) as tool:
        # A loaded machine may have it only after the first calls.
        async with asyncio.timeout(30):
            while "function" not in (await tool.call({"command": "type -t gp"})).text:
                await asyncio.sleep(0.02)
        reply = await tool.call({"command": "gp -f"})
        assert reply.is_error
        assert "rule no_force_push" in reply.text
