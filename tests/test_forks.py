"""The descriptors of this process: one sentinel, however many threads look at it at once."""

from __future__ import annotations

import os
import sys
import threading

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
