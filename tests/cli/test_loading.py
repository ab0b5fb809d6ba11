"""What is loaded for one short command, and that what is put off is there when it is asked for."""

from __future__ import annotations

import subprocess
import sys

from nacre.cli import loading


def test_running_a_command_loads_nothing_that_it_does_not_use() -> None:
    argv = [sys.executable, "-X", "importtime", "-m", "nacre", "run", "true"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "nacre.engine" in loaded
    # Each takes a millisecond or more; ssl is only looked for.
    heavy = {"_ssl", "ast", "dataclasses", "dis", "tomllib", "tree_sitter", "mcp"}
    assert loaded & heavy == set()


def test_a_module_that_was_put_off_is_whole_when_it_is_used() -> None:
    script = (
        "from nacre.cli import loading; loading.prepare('run')\n"
        "import sys, inspect, linecache\n"
        "assert 'ast' not in sys.modules\n"
        "from inspect import signature\n"
        "print(signature(lambda x: x), linecache.getline(inspect.getsourcefile(loading), 1), end='')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    with open(loading.__file__, encoding="utf-8") as file:
        first = file.readline()
    assert (done.stdout, done.stderr) == (f"(x) {first}", "")
