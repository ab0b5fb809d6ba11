"""Events become cards, whose states have words of their own."""

from __future__ import annotations

from typing import Any

from nacre.feed.card_texts import command_text, footer_text, state_text
from nacre.feed.transcript import Transcript


def _event(kind: str, call: str = "c-1", **facts: Any) -> dict[str, Any]:
    return {"v": 1, "seq": 1, "time": 100.0, "call": call, "event": kind, "project": "/p", **facts}


def _ended(**facts: Any) -> str:
    transcript = Transcript()
    transcript.feed(_event("start", command="make", startedAt=99.0))
    return state_text(transcript.feed(_event("end", **facts)))


def test_every_ending_has_words_of_its_own() -> None:
    words = [
        _ended(outcome="exited", exitCode=0),
        _ended(outcome="exited", exitCode=3),
        _ended(outcome="signalled", exitCode=137),
        _ended(outcome="timedOut", exitCode=143),
        _ended(outcome="stopped"),
        _ended(outcome="denied"),
        _ended(outcome="notStarted"),
        _ended(outcome="lost"),
    ]
    assert len(set(words)) == len(words)
    assert words[1:5] == ["exit 3", "killed by a signal (exit 137)", "timed out", "cancelled"]


def test_the_whole_command_is_shown_with_its_directory_and_variables() -> None:
    transcript = Transcript()
    env = {"B": 'a"b$c`d\\e\nf', "A": "1"}
    card = transcript.feed(_event("start", command="make\ttest\n&& echo done", cwd="/p/web", env=env))
    assert command_text(card) == 'cd web && A="1" B="a\\"b\\$c\\`d\\\\e\\nf" make    test\n&& echo done'
    card = transcript.feed(_event("start", "c-2", command="echo \x1b[31mred", cwd="/p"))
    assert command_text(card) == "echo \\x1b[31mred"


def test_the_footer_names_job_wall_time_limit_artifact_and_state() -> None:
    transcript = Transcript()
    transcript.feed(_event("start", command="make", timeout=3600, requestedTimeout=9000))
    transcript.feed(_event("job", jobId="bg_3"))
    card = transcript.feed(_event("end", outcome="exited", exitCode=2, durationMs=2500, artifacts=["12"]))
    assert footer_text(card) == "[bg_3 | 2.5s | timeout 3600 s, 9000 s asked for | artifact 12 | exit 2]"


def test_a_prompt_and_a_question_are_states_that_pass() -> None:
    transcript = Transcript()
    card = transcript.feed(_event("start", command="sudo ls"))
    transcript.feed(_event("waiting", prompt="Password: ", hidden=True))
    assert (card.status, state_text(card)) == ("waiting", "waits for hidden input: Password:")
    transcript.feed(_event("output", text="\n"))
    assert card.status == "running"
    transcript.feed(_event("approval", question="q1", message="risky", span=[0, 4], deadline=130.0))
    assert (card.status, state_text(card, now=100.0)) == ("asking", "asks for approval, 30 s left")
    transcript.feed(_event("approval", question="q1", answer="once"))
    assert card.status == "running"


def test_a_preview_becomes_the_call_that_starts() -> None:
    transcript = Transcript()
    card = transcript.feed(_event("preview", command="make te"))
    assert (card.status, card.command) == ("preview", "make te")
    transcript.feed(_event("start", command="make test"))
    assert (card.status, card.command, len(transcript)) == ("running", "make test", 1)


def test_the_transcript_forgets_the_oldest_ended_calls_and_no_running_one() -> None:
    transcript = Transcript(most=3)
    transcript.feed(_event("start", "running", command="sleep 100"))
    for number in range(10):
        transcript.feed(_event("start", f"c-{number}", command="true"))
        transcript.feed(_event("end", f"c-{number}", outcome="exited", exitCode=0))
    assert [card.call for card in transcript] == ["running", "c-8", "c-9"]
    assert transcript.forgotten == 8
    assert [card.call for card in transcript.running] == ["running"]
