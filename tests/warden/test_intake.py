"""Pipes that a runner reads: to the end, into the sink of the moment, and not while it is paused."""

from __future__ import annotations

import os
import select

from nacre.warden.intake import Intake, discard


def ready(poll: select.poll) -> list[int]:
    return [fd for fd, event in poll.poll(0) if event & select.POLLIN]


def test_the_sink_gets_every_byte_and_the_end() -> None:
    poll, got = select.poll(), []
    intake = Intake(poll)
    reader, writer = os.pipe()
    intake.attend([reader], got.append)
    os.write(writer, b"one")
    assert intake.read(reader)
    assert not intake.read(reader)
    os.close(writer)
    assert not intake.read(reader)
    assert (got, intake.fds) == ([b"one", b""], [])


def test_what_comes_after_a_redirection_is_the_other_sinks() -> None:
    poll, first, second = select.poll(), [], []
    intake = Intake(poll)
    reader, writer = os.pipe()
    intake.attend([reader], first.append)
    os.write(writer, b"one")
    intake.drain(1.0)
    intake.redirect(second.append)
    os.write(writer, b"two")
    os.close(writer)
    intake.drain(1.0)
    assert (first, second, intake.fds) == ([b"one"], [b"two", b""], [])


def test_a_paused_intake_is_not_woken_by_output() -> None:
    poll = select.poll()
    intake = Intake(poll)
    reader, writer = os.pipe()
    intake.attend([reader], discard)
    os.write(writer, b"one")
    intake.pause(paused=True)
    assert ready(poll) == []
    intake.pause(paused=False)
    assert ready(poll) == [reader]
    os.close(writer)
    intake.drain(1.0)
