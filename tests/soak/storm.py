"""A storm of calls with random kills, and the judgement over it: `make soak`, or `python tests/soak/storm.py --help`.

Hosts (host.py) follow one another on one state directory. Some are killed at a random moment; jobs go on without them.
When all is quiet, nothing may be left: no process, no temporary file, no job without exactly one end.
The seed decides about every call and every blow; their times depend on the machine.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
for place in (HERE.parents[1] / "src", HERE.parent):
    sys.path.insert(0, str(place))

from nacre.errors import UnknownJobError  # noqa: E402
from nacre.jobs.table import JobTable  # noqa: E402
from nacre.warden import children  # noqa: E402

PR_SET_CHILD_SUBREAPER = 36
# Calls of one host, of which one in so many is killed.
HOST_CALLS = 1000
KILLED_HOSTS = 3
# Mean seconds between two blows.
CHAOS_SECONDS = 0.2
# How long what a host left may take to be gone: a spare waits for 30 s.
QUIET_SECONDS = 45.0
MOST_GROWTH_BYTES = 16 * 1024 * 1024


class Storm:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.dice = random.Random(options.seed)
        self.place = Path(tempfile.mkdtemp(prefix="nacre-soak-"))
        self.home, self.work, self.scratch = (self.place / name for name in ("home", "work", "tmp"))
        for directory in (self.home, self.work, self.scratch):
            directory.mkdir()
        self.problems: list[str] = []
        self.done: Counter[str] = Counter()
        self.blows: Counter[str] = Counter()
        self.latencies: list[float] = []
        self.disturbed = self.killed = 0
        self.so_far = self.lost_calls = 0
        """The calls of the present host, and of those that were killed and could not tell what they were."""
        self.slowest: dict[str, float] = {}
        self.grown: list[int] = []

    def run(self) -> int:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        began = time.monotonic()
        end = began + self.options.seconds
        print(f"seed {self.options.seed}", flush=True)
        left = self.options.calls
        number = 0
        while left > 0 and (seconds := end - time.monotonic()) > 1:
            number += 1
            calls = min(left, self.options.host_calls)
            left -= self.host(number, calls, seconds)
        took = time.monotonic() - began
        self.settle()
        self.judge_jobs()
        self.report(took)
        if not self.problems:
            shutil.rmtree(self.place)
        else:
            print(f"state and logs are in {self.place}")
        return 1 if self.problems else 0

    def host(self, number: int, calls: int, seconds: float) -> int:
        """Run one host; return how many calls it was given."""
        seed, kills = self.dice.getrandbits(32), self.options.chaos and number % KILLED_HOSTS == 0
        # The first host is left in peace: what fails there fails without help.
        chaos = 0.0 if number == 1 else self.options.chaos
        code = [sys.executable, "-m", "soak.host", f"--seed={seed}", f"--calls={calls}", f"--seconds={seconds}"]
        path = os.pathsep.join([str(HERE.parents[1] / "src"), str(HERE.parent)])
        env = {name: value for name, value in os.environ.items() if not name.startswith("NACRE_")}
        env |= {
            "NACRE_HOME": str(self.home),
            "TMPDIR": str(self.scratch),
            "PYTHONPATH": path,
            "HOME": str(self.place),
            "NACRE_SNAPSHOT": "false",
        }
        host = subprocess.Popen(
            [*code, f"--work={self.work}", f"--chaos={chaos}"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.so_far = 0
        kill_at = time.monotonic() + self.dice.uniform(2, 12) if kills else None
        facts = self.listen(host, number, kill_at, seconds + 90)
        if kill_at is not None and facts is None and host.returncode == -9:
            self.killed += 1
            self.lost_calls += self.so_far
        elif facts is None:
            errors = host.stderr.read().decode(errors="replace") if host.stderr is not None else ""
            self.problems.append(f"host {number} (seed {seed}) ended with {host.returncode}: {errors[-2000:]}")
        else:
            self.add(number, facts)
        for stream in (host.stdout, host.stderr):
            assert stream is not None
            stream.close()
        return calls

    def listen(self, host: subprocess.Popen[bytes], number: int, kill_at: float | None, most: float) -> Any:
        """Read what a host prints to its end, and kill it when its time has come; return its figures."""
        assert host.stdout is not None
        facts, held, end = None, b"", time.monotonic() + most
        while True:
            now = time.monotonic()
            if (kill_at is not None and now >= kill_at) or now >= end:
                if kill_at is None:
                    self.problems.append(f"host {number} hung")
                host.kill()
                host.wait()
                return None
            due = end if kill_at is None else min(kill_at, end)
            ready, _, _ = select.select([host.stdout], [], [], max(0.0, due - now))
            if not ready:
                continue
            data = os.read(host.stdout.fileno(), 65536)
            if not data:
                host.wait()
                return facts
            *lines, held = (held + data).split(b"\n")
            for line in lines:
                said = json.loads(line)
                if "problem" in said:
                    self.problems.append(f"host {number}: {said['kind']}, after {said['took']} s: {said['problem']}")
                    print(self.problems[-1], flush=True)
                elif "calls" in said:
                    self.so_far = said["calls"]
                    if self.options.verbose:
                        print(f"host {number}: {said['calls']} calls, {said['rss'] >> 10} KB", flush=True)
                else:
                    facts = said

    def add(self, number: int, facts: dict[str, Any]) -> None:
        self.done.update(facts["done"])
        self.blows.update(facts["blows"])
        self.latencies += facts["latencies"]
        self.disturbed += facts["disturbed"]
        for kind, seconds in facts["slowest"].items():
            self.slowest[kind] = max(self.slowest.get(kind, 0.0), seconds)
        self.grown.append(facts["grown"])
        if facts["grown"] > MOST_GROWTH_BYTES:
            self.problems.append(f"host {number}: its memory grew by {facts['grown'] >> 20} MB")
        if facts["leaked"]:
            self.problems.append(f"host {number}: descriptors are left: {facts['leaked']}")

    def settle(self) -> None:
        """Wait until nothing of the hosts lives any more."""
        end = time.monotonic() + QUIET_SECONDS
        while time.monotonic() < end:
            _, left = children.reap()
            if not left:
                break
            select.select([], [], [], 0.1)
        for pid in children.descendants(os.getpid()):
            if not children.is_zombie(pid):
                self.problems.append(f"a process is left: {pid} {children.command_line(pid)} {children.state(pid)}")
                os.kill(pid, 9)
        left_files = sorted(str(path.relative_to(self.scratch)) for path in self.scratch.rglob("*"))
        if left_files:
            self.problems.append(f"temporary files are left: {left_files[:10]}")

    def judge_jobs(self) -> None:
        """Every job has one end, and no end is a success that was none."""
        noted = self.home / "soak-jobs.jsonl"
        lines = noted.read_text(encoding="ascii").splitlines() if noted.exists() else []
        table = JobTable(self.home)
        # A nacre that reads a job whose runner and warden were killed writes its end.
        listed = table.list().jobs
        ends = Counter(
            entry["jobId"]
            for entry in map(json.loads, (self.home / "log.jsonl").read_text(encoding="utf-8").splitlines())
            if entry.get("event") == "end"
        )
        states: Counter[str] = Counter()
        for line in lines:
            job = json.loads(line)
            try:
                found = table.get(job["id"])
            except UnknownJobError:
                self.problems.append(f"job {job['id']} has no record")
                continue
            states[found.state] += 1
            output = Path(found.output_file).read_text(encoding="utf-8", errors="replace")
            if found.running:
                self.problems.append(f"job {job['id']} still runs")
            elif found.state == "exited" and found.record["exitCode"] == job["code"] and job["token"] not in output:
                self.problems.append(f"job {job['id']}: its output is not whole: {output[-200:]!r}")
            elif found.state == "exited" and found.record["exitCode"] == 0 and job["code"]:
                self.problems.append(f"job {job['id']}: success was claimed for exit code {job['code']}")
            if output.count("[background process ") > 1:
                self.problems.append(f"job {job['id']}: its completion line was written twice")
        for job in listed:
            if not job.running and not ends[job.id] and not job.record.get("attended"):
                self.problems.append(f"job {job.id} ({job.state}): the log has no end of it")
            if ends[job.id] > 1:
                self.problems.append(f"job {job.id}: the log has {ends[job.id]} ends of it")
        self.jobs = states

    def report(self, took: float) -> None:
        times = sorted(self.latencies)
        spread = [f"p{part} {times[min(len(times) - 1, len(times) * part // 100)]:.1f} ms" for part in (50, 99)]
        print(f"{sum(self.done.values())} calls in {took:.0f} s: {dict(self.done.most_common())}")
        print(f"blows: {dict(self.blows.most_common())}; calls disturbed: {self.disturbed}")
        print(f"hosts killed: {self.killed}, after {self.lost_calls} more calls")
        print(f"jobs: {dict(self.jobs)}")
        print(f"short calls: {', '.join(spread) if times else 'none'}; slowest of each kind in s: {self.slowest}")
        print(f"growth of memory: {[size >> 10 for size in self.grown]} KB by host")
        print(f"{len(self.problems)} problems")
        for problem in self.problems:
            print(f"- {problem}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--host-calls", type=int, default=HOST_CALLS, help="calls of one host")
    parser.add_argument("--verbose", action="store_true", help="print the progress and the memory of hosts")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--chaos", type=float, default=CHAOS_SECONDS, help="mean seconds between two blows; 0 is none")
    return Storm(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
