"""Damaged files of the state directory: a record is read or refused by ValueError, a listing and a log answer."""

import json
import os
import tempfile
from pathlib import Path

import atheris
from harness import instrumented, start

with instrumented():
    from nacre.jobs import status
    from nacre.jobs.table import JobTable
    from nacre.warden import log_line, record

HOME = Path(tempfile.mkdtemp(prefix="nacre-fuzz-records-"))
JOB = HOME / "jobs" / "bg_1"
JOB.mkdir(parents=True)
WHOLE = {
    "version": record.VERSION,
    "id": "bg_1",
    "state": "exited",
    "command": "true",
    "exitCode": 0,
    "signal": None,
    "stages": [],
    "startedAt": 1.0,
    "endedAt": 2.0,
    "outputBytes": 0,
    "closed": True,
    "bootId": "x",
    "pid": 1,
    "runnerPid": 1,
    "outputFile": str(JOB / "output"),
}


def damaged(provider: atheris.FuzzedDataProvider) -> bytes:
    """A record that was cut, or in which values were replaced, or no record at all."""
    way = provider.ConsumeIntInRange(0, 3)
    if way == 0:
        return provider.ConsumeBytes(200)
    found: dict[str, object] = dict(WHOLE)
    if way == 1:
        whole = json.dumps(found).encode("ascii")
        return whole[: provider.ConsumeIntInRange(0, len(whole))]
    strange = (None, True, -1, 2**70, 1.5, "", "x", "\ud800", [], [1], {}, {"a": 1}, "running", "lost", "killed")
    for _ in range(provider.ConsumeIntInRange(1, 4)):
        name = list(found)[provider.ConsumeIntInRange(0, len(found) - 1)]
        if provider.ConsumeBool() and len(found) > 1:
            del found[name]
        else:
            found[name] = strange[provider.ConsumeIntInRange(0, len(strange) - 1)]
    return json.dumps(found).encode("ascii")


def one_input(data: bytes) -> None:
    provider = atheris.FuzzedDataProvider(data)
    (JOB / "record.json").write_bytes(damaged(provider))
    (JOB / "output").write_bytes(provider.ConsumeBytes(20))
    try:
        record.read(str(JOB))
    except ValueError:
        pass
    listing = JobTable(HOME).list()
    for job in listing.jobs:
        assert isinstance(status.headline(job), str)
        json.dumps(status.details_of(job))
    (HOME / "log.jsonl").write_bytes(provider.ConsumeBytes(200))
    log_line.has_end(str(HOME), {"event": "end", "jobId": "bg_1", "startedAt": 1.0})
    # A listing may have set a damaged record aside.
    os.makedirs(JOB, exist_ok=True)


if __name__ == "__main__":
    start(one_input)
