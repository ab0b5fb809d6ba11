"""What is loaded for one short command, and that what is put off is there when it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from nacre.cli import loading, verb_run
from nacre.cli.parser import parsed


def test_running_a_command_loads_nothing_that_it_does_not_use() -> None:
    argv = [sys.executable, "-X", "importtime", "-m", "nacre", "run", "true"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "nacre.engine.engine" in loaded
    # Each takes a millisecond or more; ssl is only looked for.
    heavy = {"_ssl", "argparse", "pathlib", "shutil", "tomllib", "tree_sitter", "mcp"}
    assert loaded & heavy == set()


@pytest.mark.parametrize("words", [["true"], ["--", "a | b"], [""], ["--", " -x"]], ids=str)
def test_a_command_alone_is_read_as_argparse_reads_it(words: list[str]) -> None:
    namespace = verb_run.plain(words)
    assert namespace is not None
    assert vars(namespace) == vars(parsed("run", words))


@pytest.mark.parametrize("words", [[], ["--"], ["-h"], ["--json", "true"], ["a", "b"], ["--", "-x"], ["-"]], ids=str)
def test_anything_else_is_left_to_argparse(words: list[str]) -> None:
    assert verb_run.plain(words) is None


def test_a_module_that_was_put_off_is_whole_when_it_is_used() -> None:
    script = (
        "from nacre.cli import loading; loading.prepare('run')\n"
        "import sys, inspect, linecache\n"
        "assert 'ast' not in sys.modules\n"
        "from inspect import signature\n"
        "from asyncio.staggered import staggered_race\n"
        "import asyncio; assert staggered_race is asyncio.staggered.staggered_race\n"
        "print(signature(lambda x: x), linecache.getline(inspect.getsourcefile(loading), 1), end='')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    with open(loading.__file__, encoding="utf-8") as file:
        first = file.readline()
    assert (done.stdout, done.stderr) == (f"(x) {first}", "")
