"""Case 59: a command that the kernel kills for memory, in a control group of the test's own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from outside import Program, eventually

HIERARCHY = Path("/sys/fs/cgroup/memory")

# The program limits itself before it starts anything; its command then asks for more.
LIMITED = """
import json, os, sys
with open(sys.argv[1] + "/cgroup.procs", "w") as group:
    group.write(str(os.getpid()))
import nacre
result = nacre.run_sync(sys.argv[2])
print(json.dumps([result.exit_code, list(result.notices)]), flush=True)
"""
HUNGRY = "exec /usr/bin/perl -e 'my $x = \"x\" x 300_000_000; print length $x'"


@pytest.fixture
def group() -> Iterator[Path]:
    path = HIERARCHY / f"nacre-test-{os.getpid()}"
    try:
        path.mkdir()
        (path / "memory.limit_in_bytes").write_text(str(96 << 20), encoding="ascii")
    except OSError as error:
        pytest.skip(f"no memory control group can be made here: {error}")
    yield path
    # The warden of the program that has ended may take a moment longer, and it is in the group.
    eventually(lambda: not (path / "cgroup.procs").read_text(encoding="ascii"), "an empty group")
    path.rmdir()


def test_case_59_killed_for_memory_is_137_and_says_so(group: Path) -> None:
    code, notices = json.loads(Program(LIMITED, str(group), HUNGRY).succeed())
    assert (code, notices) == (137, ["out of memory: the kernel killed a process of this command or beside it"])


def test_case_59_killed_by_somebody_is_not_called_out_of_memory(group: Path) -> None:
    code, notices = json.loads(Program(LIMITED, str(group), "kill -KILL $$").succeed())
    assert (code, notices) == (137, [])
