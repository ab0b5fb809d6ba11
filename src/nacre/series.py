"""Several commands of one call, one after another under one limit."""

from __future__ import annotations

import time
from dataclasses import replace

from nacre.contracts.contract import Series
from nacre.engine.engine import Engine
from nacre.engine.execute import execute
from nacre.engine.live import LiveTail
from nacre.engine.observers import Observers
from nacre.errors import NacreError
from nacre.request import Ground
from nacre.result import ShellResult, TimedOut


async def run_series(
    engine: Engine,
    series: Series,
    *,
    cwd: str,
    key: str,
    ground: Ground | None = None,
    live: LiveTail | None = None,
) -> list[ShellResult | NacreError | None]:
    """What became of each command: its result, why it was not run, or None when no time was left for it.

    A command that fails or is refused does not keep the next one from running: they are separate, as bash calls are.
    """
    results: list[ShellResult | NacreError | None] = []
    started = time.monotonic()
    over = False
    for request in series.requests:
        left = series.timeout - (time.monotonic() - started)
        if over or left <= 0:
            results.append(None)
            continue
        request = engine.notices.add(replace(request, timeout=left, ground=ground), key)
        try:
            planned = engine.planner.plan(request, series.profile, cwd=cwd)
            result = await execute(engine, planned, series.profile, observers=Observers(live=live))
        except NacreError as error:
            results.append(error)
        else:
            results.append(result)
            engine.notices.told(key)
            over = isinstance(result.outcome, TimedOut)
    return results
