"""The memory that a job costs while it runs: its runner's own, beyond what it shares with the zygote."""

from __future__ import annotations

import compileall
import statistics
from pathlib import Path

from nacre.jobs.polling import poll
from nacre.settings import Settings
from nacre.tool import Tool
from nacre.warden import children
from nacre.warden_client.pool import warden

LIMIT_KILOBYTES = 1024


def own_kilobytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))


async def test_the_runner_of_a_job_keeps_less_than_a_megabyte_for_itself(home: Path) -> None:
    # A zygote that has compiled modules, the first after a change, shares 70 KB less.
    for folder in ("warden", "output"):
        compileall.compile_dir(Path(children.__file__).parents[1] / folder, quiet=2)
    warden.close()
    tool = Tool("workspace", settings=Settings())
    table = tool.engine.jobs
    ids = []
    for _ in range(6):
        reply = await tool.call({"command": "exec sleep 1000", "async": True})
        assert not reply.is_error, reply.text
        ids.append(reply.details["async"]["jobId"])
    runners = [table.get(job_id).record["runnerPid"] for job_id in ids]
    assert all(children.command_line(runner) == ["nacre-runner"] for runner in runners)
    costs = [own_kilobytes(runner) for runner in runners]
    for job_id in ids:
        table.stop(job_id)
        assert (await poll(table, [job_id], wait=30)).reason == "ended"
    assert statistics.median(costs) <= LIMIT_KILOBYTES, costs
