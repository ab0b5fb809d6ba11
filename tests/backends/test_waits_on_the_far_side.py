"""Nothing that the caller sends or collects waits without a limit for a process of the far side."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest

from nacre.warden_client import pool
from nacre.warden_client import runner_link as links


def test_a_message_to_a_runner_that_takes_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "TELL_SECONDS", 0.1)
    near, far = socket.socketpair()
    with far:
        link = links.Link(near, far, lambda *_: None)
        with pytest.raises(TimeoutError):
            link.tell({"op": "run", "script": "x" * 10_000_000}, [])
        # What is said next does not wait either.
        assert near.gettimeout() == 0
        near.close()


def test_a_warden_whose_first_process_is_stopped_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "INTERMEDIATE_SECONDS", 0.1)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"]) as stopped:
        os.kill(stopped.pid, signal.SIGSTOP)
        warden = pool.Warden()
        monkeypatch.setattr(warden, "_intermediate", stopped)
        warden.close()
        assert stopped.poll() is None
        stopped.kill()
