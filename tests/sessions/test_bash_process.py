"""What a turn leaves running below its runner is seen, and jobs of earlier turns do not count."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator

import pytest

from nacre.sessions.bash_process import Leftovers
from nacre.sessions.shell_loop import SAME
from nacre.warden import marks


@pytest.fixture
def runner() -> Iterator[subprocess.Popen[str]]:
    """A process in the place of a runner, which starts a shell and, on a word, another child."""
    script = "sleep 60 & echo $!; read x; sleep 61 & echo $!; read x; kill $!; wait $!; echo done; read x; kill %1"
    process = subprocess.Popen(
        ["bash", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    yield process
    process.communicate("\n\n\n")


def said(runner: subprocess.Popen[str], *, go: bool = True) -> str:
    assert runner.stdin is not None
    assert runner.stdout is not None
    if go:
        runner.stdin.write("\n")
        runner.stdin.flush()
    return runner.stdout.readline()


async def test_a_process_beside_the_shell_is_left_over_until_it_ends(runner: subprocess.Popen[str]) -> None:
    leftovers = Leftovers()
    leftovers.watch(int(said(runner, go=False)), runner.pid)
    try:
        assert leftovers.none("")
        other = int(said(runner))
        assert not leftovers.none(SAME)
        # As if an earlier turn had left it running as a job.
        leftovers.job_marks.add(marks.mark_of(other) or 0)
        assert said(runner) == "done\n"
        async with asyncio.timeout(30):
            while not leftovers.none(str(other)):
                await asyncio.sleep(0.01)
        assert leftovers.none(SAME)
    finally:
        leftovers.close()
