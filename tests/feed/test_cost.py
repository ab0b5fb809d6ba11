"""The feed costs a call without a viewer one system call, and nothing is loaded for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CALLS = 20
SCRIPT = f"""
import asyncio, os, sys
import nacre
from nacre.engine import execute

# A traced call on a busy machine takes long enough to look for viewers that came late.
execute.LATER_SECONDS = 3600.0

async def main():
    for _ in range(5):
        await nacre.run("echo hi")
    os.access("/begin-of-the-count", os.F_OK)
    for _ in range({CALLS}):
        await nacre.run("echo hi")
    os.access("/end-of-the-count", os.F_OK)

asyncio.run(main())
unneeded = ("nacre.feed.publisher", "nacre.feed.show", "nacre.engine.viewing")
print([name for name in sys.modules if name.startswith(unneeded)])
"""


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_a_call_without_a_viewer_makes_one_system_call_for_the_feed(tmp_path: Path, home: Path) -> None:
    trace = tmp_path / "trace"
    command = ["strace", "-f", "-qq", "-o", trace, sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "PTRACE" in done.stderr or "ptrace" in done.stderr:
        pytest.skip("this machine lets no process be traced")
    assert done.stdout == "[]\n"
    _, begun, counted = trace.read_text(errors="replace").partition('"/begin-of-the-count"')
    counted, ended, _ = counted.partition('"/end-of-the-count"')
    assert begun
    assert ended
    looks = [line for line in counted.splitlines() if f'"{home}/feed' in line]
    assert len(looks) == CALLS
    assert all(re.search(r"\baccess\(", line) for line in looks), looks


def test_a_viewer_that_left_costs_no_more_than_none(home: Path) -> None:
    script = (
        "import asyncio, os\n"
        "import nacre\n"
        "from nacre.feed.follower import Follower\n"
        "async def main():\n"
        f"    async with Follower({str(home)!r}):\n"
        "        await nacre.run('echo hi')\n"
        "    await nacre.run('echo hi')\n"
        "    print(os.path.exists(nacre.feed.directory_of(os.environ['NACRE_HOME'])))\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=os.environ, check=True)
    assert done.stdout == "False\n"
