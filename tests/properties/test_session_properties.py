"""Whatever a command leaves in its shell, a fresh one can be brought into it; whatever it is, it comes to the same."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nacre
from nacre.settings import ShellSettings

SETTINGS = nacre.Settings(shell=ShellSettings(snapshot=False))
SLOW = settings(max_examples=20, suppress_health_check=list(HealthCheck))

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
NAMES = st.sampled_from(["a", "b_2", "Long_Name", "PATHS", "x"])
OPTIONS = st.sampled_from(["nounset", "pipefail", "noglob", "errtrace", "noclobber"])
SHOPTS = st.sampled_from(["extglob", "nullglob", "dotglob", "globstar", "lastpipe", "nocasematch"])


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


SCALARS = st.tuples(st.sampled_from(["declare", "declare -x", "declare -r", "declare -u"]), TEXTS)
ARRAYS = st.lists(TEXTS, max_size=4)
# One key: the order of several is that of their insertion where they share a bucket, and means nothing.
TABLES = st.dictionaries(TEXTS.filter(bool), TEXTS, max_size=1)


@st.composite
def definitions(draw: st.DrawFn) -> str:
    """A script that defines something of every kind."""
    lines = []
    for number in range(draw(st.integers(0, 3))):
        kind, text = draw(SCALARS)
        lines.append(f"{kind} s{number}={quoted(text)}")
    for number in range(draw(st.integers(0, 2))):
        lines.append(f"a{number}=({' '.join(quoted(text) for text in draw(ARRAYS))})")
    for number in range(draw(st.integers(0, 2))):
        pairs = draw(TABLES).items()
        lines.append(f"declare -A t{number}; " + "; ".join(f"t{number}[{quoted(k)}]={quoted(v)}" for k, v in pairs))
    for number in range(draw(st.integers(0, 2))):
        body = quoted(draw(TEXTS))
        lines.append(f'f{number}() {{ local v={body}; echo "$v" | cat; case $1 in a) echo {body};; esac; }}')
    for number in range(draw(st.integers(0, 2))):
        lines.append(f"alias l{number}={quoted(draw(TEXTS))}")
    lines += [f"set -o {name}" for name in draw(st.lists(OPTIONS, max_size=2))]
    lines += [f"shopt -s {name}" for name in draw(st.lists(SHOPTS, max_size=2))]
    if draw(st.booleans()):
        lines.append(f"set -- {' '.join(quoted(text) for text in draw(ARRAYS))}")
    return "\n".join(line for line in lines if not line.endswith("; ")) + "\n:"


# The names of the loop's own, and of what belongs to the process, are not compared.
PROBE = """\
declare -p | grep -av -e ' BASH' -e __nacre -e ' RANDOM' -e ' SRANDOM' -e ' EPOCH' -e ' SECONDS' -e ' PPID' \
 -e ' LINENO' -e ' _=' -e ' PIPESTATUS' -e ' FUNCNAME' -e ' HISTCMD' -e ' DIRSTACK'
declare -f; alias; set +o; shopt; printf '<%s>' "$#" "$@"
"""


@SLOW
@given(definitions())
def test_a_restored_shell_is_the_same(script: str) -> None:
    async def before_and_after() -> tuple[str, str]:
        async with nacre.Session(cwd="/", settings=SETTINGS) as session:
            await session.run(script)
            before = await session.run(PROBE)
            await session.run("kill -9 $$")
            return before.text, (await session.run(PROBE)).text

    before, after = asyncio.run(before_and_after())
    assert after == before


PIECES = st.sampled_from(
    [
        "echo hi", "x=1", "echo $x", "false", "true", "y=$(echo sub)", "echo \"$y\"", "f() { echo f $1; return 2; }",
        "f a", "cd /usr", "pwd", "cd nowhere", "set -e", "set +e", "set -u", "echo $nope", "seq 3 | tail -n 1",
        "false | true", "echo $?", "for i in 1 2; do echo $i; done", "[ -n \"$x\" ]", "trap 'echo bye' EXIT",
        "exit 3", "(exit 4)", "cat <<E\nhere $x\nE", "nosuch", "read z", "echo ${z-unset}", "a=(1 2); echo ${a[1]}",
        "shift", "echo $#", "if", ")", "{ echo g; } >&2", "exec 2>&1", "break", "return 1", "wait",
        "sleep 0 &", "umask", "unset x", "export x", "sh -c 'echo $x'", "set -o pipefail", "printf 'a\\0b'", "! true",
    ]
)  # fmt: skip


@SLOW
@given(st.lists(PIECES, min_size=1, max_size=6))
def test_a_script_comes_to_the_same_as_in_bash(pieces: list[str]) -> None:
    script = "\n".join(pieces)

    async def in_session(cwd: str) -> tuple[str, int | None]:
        async with nacre.Session(cwd=cwd, settings=SETTINGS) as session:
            result = await session.run(script)
            return result.text, result.exit_code

    with tempfile.TemporaryDirectory() as cwd:
        text, code = asyncio.run(in_session(cwd))
        done = subprocess.run(
            ["bash", "-c", script], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=os.environ, check=False,
        )  # fmt: skip
    expected = done.stdout.decode("utf-8", "replace").replace("bash: -c: line", "bash: eval: line")
    assert (text, code) == (expected, done.returncode)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if not name.startswith("NACRE_") and name not in ("PATH", "HOME", "TMPDIR", "XDG_CONFIG_HOME"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
