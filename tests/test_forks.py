"""What a fork must not spoil: the sentinel of the descriptors, and the imports of other threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from nacre import forks

THREADS = 8
ROUNDS = 200


def test_threads_that_come_at_once_open_one_sentinel_between_them() -> None:
    before = len(os.listdir("/proc/self/fd"))
    # Threads take turns often, so that one comes between two statements of another.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(ROUNDS):
            forks.close()
            together = threading.Barrier(THREADS)

            def look(together: threading.Barrier = together) -> None:
                together.wait()
                forks.check()

            threads = [threading.Thread(target=look) for _ in range(THREADS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert len(os.listdir("/proc/self/fd")) - before == 1


def test_a_child_imports_what_a_thread_of_its_parent_was_importing(tmp_path: Path) -> None:
    """The lock of the module belongs to a thread that the child does not have (docs/decisions)."""
    (tmp_path / "slow.py").write_text(
        "import threading\nif threading.current_thread() is not threading.main_thread():\n    "
        "import __main__\n    __main__.importing.set()\n    __main__.done.wait()\nvalue = 1\n"
    )
    (tmp_path / "host.py").write_text(
        "import os, signal, threading, nacre\n"
        "importing, done = threading.Event(), threading.Event()\n"
        "thread = threading.Thread(target=lambda: __import__('slow'))\n"
        "thread.start()\n"
        "importing.wait()\n"
        "if (pid := os.fork()) == 0:\n"
        "    signal.alarm(10)\n"
        "    import slow\n"
        "    os._exit(slow.value)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
        "done.set()\n"
        "thread.join()\n"
    )
    host = subprocess.run([sys.executable, "-W", "ignore", "host.py"], cwd=tmp_path, capture_output=True, text=True)
    assert (host.stdout, host.stderr) == ("1\n", "")
