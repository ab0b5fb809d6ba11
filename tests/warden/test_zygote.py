"""The warden's first process."""

from __future__ import annotations

import os
import signal
import time

from nacre import Exited, run
from nacre.backends.spare_shells import spares
from nacre.warden import children


async def test_a_runner_that_ended_is_collected_at_once() -> None:
    assert (await run("true")).outcome == Exited(0)
    spares.close()
    (guardian,) = children.children_of(os.getpid()) or []
    (zygote,) = children.children_of(guardian) or []
    for runner in children.children_of(zygote) or []:
        os.kill(runner, signal.SIGKILL)
    end = time.monotonic() + 10
    while children.children_of(zygote) and time.monotonic() < end:
        os.sched_yield()
    assert children.children_of(zygote) == []
    assert (await run("true")).outcome == Exited(0)
