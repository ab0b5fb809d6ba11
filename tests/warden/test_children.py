"""What /proc says about the processes below one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

# The second child gets a lower number than the first, as after the system's highest pid.
NUMBERS_BEGIN_ANEW = """
import os, time
from nacre.warden import children
for last in (300, 100):
    with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as file:
        file.write(str(last))
    if os.fork() == 0:
        time.sleep(60)
    # More than a clock tick, in which start times are counted.
    time.sleep(0.05)
found = [one["pid"] for one in children.survivors(os.getpid())]
for pid in found:
    os.kill(pid, 9)
    os.waitpid(pid, 0)
print(found)
"""


def test_survivors_are_named_by_age_also_when_pids_begin_anew() -> None:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("a pid namespace needs root and unshare")
    done = subprocess.run(
        ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", NUMBERS_BEGIN_ANEW],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert done.stdout == "[301, 101]\n"
