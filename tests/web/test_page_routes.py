"""What the page is told and what a person may do with it, over real HTTP with real commands."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

import nacre
from nacre.settings import OutputSettings, PolicySettings, Settings
from nacre.web.page_routes import BODY_BYTES, FILES
from web.serving import Page, page_server

ASKING = Settings(policy=PolicySettings(rules=(("no_force_push", "ask"),)))


@pytest.mark.parametrize("name", FILES)
async def test_the_files_of_the_page_are_served(name: str) -> None:
    async with page_server() as page:
        answer = await page.get(name, Cookie=None)
    assert answer.status == 200
    assert len(answer.body) == int(answer.headers["content-length"]) > 100


async def test_no_other_file_is_served() -> None:
    async with page_server() as page:
        for path in ("../page_gate.py", "%2e%2e/page_gate.py", "static/app.js", "/etc/passwd", "app.js/"):
            assert (await page.get(path)).status == 404


async def test_a_call_is_told_from_its_start_to_its_end(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with page_server() as page, page.follow("api/events?columns=40") as stream:
        assert (await stream.next()).name == "hello"
        await stream.until("settled")
        async with nacre.Tool("workspace", cwd=tmp_path) as tool:
            call = asyncio.create_task(tool.call({"command": f"seq 30; cat {gate}; exit 3"}))
            started = (await stream.until("card", lines=[str(one) for one in range(21, 31)])).data
            assert (started["status"], started["state"], started["origin"]) == (
                "running",
                "running",
                f"library · {tmp_path.name}",
            )
            assert started["hint"] == "… 20 earlier lines (show all)"
            await asyncio.to_thread(gate.write_text, "<b>released</b>\n")
            await call
            ended = (await stream.until("card", state="exit 3")).data
    assert (ended["status"], ended["lines"][-1], ended["ended"] is not None) == ("failed", "<b>released</b>", True)


async def test_a_connection_that_comes_again_is_told_only_what_is_new() -> None:
    async with page_server() as page, nacre.Tool("workspace") as tool:
        async with page.follow() as stream:
            await stream.until("settled")
            await tool.call({"command": "echo one"})
            last = await stream.until("card", state="exit 0")
        await tool.call({"command": "echo two"})
        async with page.follow(Last_Event_ID=last.number) as stream:
            hello = await stream.next()
            assert not hello.data["fresh"]
            events = [await stream.next()]
            while events[-1].name != "settled":
                events.append(await stream.next())
        cards = [event.data["lines"] for event in events if event.name == "card"]
        assert cards == [["two"]]
        async with page.follow(Last_Event_ID="another.7") as stream:
            assert (await stream.next()).data["fresh"]
            first = await stream.until("card")
            assert first.data["lines"] == ["one"]


async def test_an_approval_is_answered_with_its_risky_part_marked(tmp_path: Path) -> None:
    async with page_server() as page, page.follow() as stream:
        await stream.until("settled")
        async with nacre.Tool("workspace", cwd=tmp_path, settings=ASKING) as tool:
            call = asyncio.create_task(tool.call({"command": "cd . && git push --force origin main"}))
            asked = await stream.until("card", status="asking")
            question = asked.data["question"]
            assert "".join(question["parts"]) == "cd . && git push --force origin main"
            assert question["parts"][1].startswith("git push --force")
            path = f"api/calls/{asked.data['call']}/decide"
            assert (await page.post(path, {"question": question["id"], "decision": "maybe"})).status == 400
            assert (await page.post(path, {"question": "another", "decision": "once"})).status == 409
            assert (await page.post(path, {"question": question["id"], "decision": "deny"})).json() == {"ok": True}
            reply = await call
            await stream.until("card", status="denied")
            assert (await page.post(path, {"question": question["id"], "decision": "once"})).status == 409
    assert reply.is_error


async def test_an_approval_for_the_session_is_not_asked_again(tmp_path: Path) -> None:
    async with page_server() as page, page.follow() as stream:
        await stream.until("settled")
        async with nacre.Tool("workspace", cwd=tmp_path, settings=ASKING) as tool:
            call = asyncio.create_task(tool.call({"command": "git push --force origin main"}))
            asked = (await stream.until("card", status="asking")).data
            answer = {"question": asked["question"]["id"], "decision": "session"}
            assert (await page.post(f"api/calls/{asked['call']}/decide", answer)).status == 200
            first = await call
            again = await tool.call({"command": "git push --force origin main"})
    assert "denied" not in first.text + again.text


async def test_a_running_call_is_stopped_and_an_unknown_one_is_an_error() -> None:
    async with page_server() as page, page.follow() as stream:
        await stream.until("settled")
        async with nacre.Tool("workspace") as tool:
            call = asyncio.create_task(tool.call({"command": "echo begun; exec sleep 600"}))
            begun = await stream.until("card", lines=["begun"])
            assert (await page.post(f"api/calls/{begun.data['call']}/stop")).status == 200
            await call
            await stream.until("card", status="cancelled")
        gone = await page.post("api/calls/nothing/stop")
        assert (gone.status, gone.json()["error"]) == (
            409,
            "it has ended, was answered elsewhere, or its program is gone",
        )


async def test_jobs_are_listed_read_and_stopped() -> None:
    async with page_server() as page, page.follow() as stream, nacre.Tool("workspace") as tool:
        await tool.call({"command": "echo of the job; exec sleep 600", "async": True})
        async with asyncio.timeout(20):
            while not (jobs := (await stream.until("jobs")).data["jobs"]):
                pass
        assert (jobs[0]["id"], jobs[0]["status"]) == ("bg_1", "running")
        await stream.until("card", lines=["of the job"])
        read = (await page.get("api/output/job/bg_1")).json()
        assert (read["text"], read["offset"], read["end"]) == ("of the job\n", 0, 11)
        assert (await page.post("api/calls/bg_1/stop")).status == 200
        async with asyncio.timeout(20):
            while (await stream.until("jobs")).data["jobs"][0]["status"] != "cancelled":
                pass


async def test_a_whole_output_is_read_page_by_page() -> None:
    async with page_server() as page, page.follow() as stream, nacre.Tool("workspace") as tool:
        await tool.call({"command": "seq 40000"})
        card = (await stream.until("card", state="exit 0")).data
        offset, text = 0, ""
        while True:
            answer = (await page.get(f"api/output/call/{card['call']}?offset={offset}")).json()
            text += answer["text"]
            offset = answer["next"]
            if offset >= answer["end"]:
                break
        assert text == "".join(f"{one}\n" for one in range(1, 40001))
        last = (await page.get(f"api/output/artifact/{card['artifacts'][0]}?offset=-1")).json()
        assert last["text"].endswith("39999\n40000\n")
        assert last["offset"] > 0
        assert last["next"] == last["end"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("api/output/call/nothing", 409),
        ("api/output/job/bg_99", 409),
        ("api/output/job/..%2f..", 404),
        ("api/output/artifact/99", 409),
        ("api/output/artifact/x", 400),
        ("api/output/file/x", 400),
        ("api/output/artifact/1?offset=x", 400),
        ("api/activity?range=year", 400),
        ("api/terminals/bg_99/events", 409),
    ],
)
async def test_what_is_not_there_is_an_error_in_words(path: str, status: int) -> None:
    async with page_server() as page:
        answer = await page.get(path)
    assert answer.status == status
    if status != 404:
        assert answer.json()["error"]


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff", b"x" * (BODY_BYTES + 1), b'{"text": 1}'])
async def test_a_body_that_no_page_sends_is_refused(body: bytes) -> None:
    async with page_server() as page:
        answer = await page.post("api/calls/x/answer", body)
    assert answer.status == 400
    assert b"xxxx" not in answer.body


async def test_a_reader_that_reads_nothing_is_held_no_output_for(tmp_path: Path) -> None:
    """The state is sent as it is when there is room for it, so nothing is queued; others are told as before."""
    async with page_server() as page, page.follow() as stream, nacre.Tool("workspace") as tool:
        await stream.until("settled")
        _, stuck = await page.connect("GET", "api/events", {}, b"")
        try:
            await tool.call({"command": "yes | head -c 20000000; echo the end"})
            card = (await stream.until("card", state="exit 0")).data
            assert card["lines"][-1] == "the end"
        finally:
            stuck.transport.abort()


async def _terminal(page: Page, tool: nacre.Tool, command: str) -> str:
    reply = await tool.call({"command": command, "pty": True, "async": True})
    job = str((reply.details or {})["async"]["jobId"])
    return f"api/terminals/{job}/"


async def test_a_terminal_is_seen_typed_into_and_resized() -> None:
    async with page_server() as page, nacre.Tool("workspace") as tool:
        path = await _terminal(page, tool, "read -rp 'name? ' n; echo \"hello $n\"; stty size; read -r")
        async with page.follow(f"{path}events") as stream:
            screen = Screen()
            await screen.until(stream, "name?")
            sent = {"input": [{"size": [70, 20]}, {"text": "Adè"}, {"key": "enter"}]}
            assert (await page.post(f"{path}input", sent)).json() == {"ok": True}
            await screen.until(stream, "hello Adè", "20 70")
            assert (screen.state["columns"], screen.state["rows"]) == (70, 20)
            await page.post(f"{path}input", {"input": [{"key": "ctrl+c"}]})
            async with asyncio.timeout(20):
                while screen.state["ended"] is None:
                    screen.take((await stream.until("screen")).data)
        refused = await page.post(f"{path}input", {"input": [{"text": "x"}]})
        assert refused.status == 409


async def test_input_that_is_none_is_refused_without_its_value() -> None:
    async with page_server() as page, nacre.Tool("workspace") as tool:
        path = await _terminal(page, tool, "exec sleep 600")
        async with page.follow(f"{path}events") as stream:
            await stream.until("screen")
            for item in ({"txt": "a secret"}, "a secret", {"size": [1]}, {"key": 3}, None):
                answer = await page.post(f"{path}input", {"input": [item]})
                assert answer.status == 400
                assert b"secret" not in answer.body
        await page.post("api/calls/bg_1/stop")


async def test_a_prompt_is_answered_and_a_hidden_answer_is_in_no_file(home: Path) -> None:
    secret = "s3cret-of-24-characters!"
    async with page_server() as page, page.follow() as stream, nacre.Tool("workspace") as tool:
        await _terminal(page, tool, "read -rsp 'Password: ' p; echo; echo \"${#p} characters\"")
        asked = (await stream.until("card", status="waiting")).data
        assert asked["prompt"] == {"text": "Password:", "hidden": True}
        assert (await page.post(f"api/calls/{asked['call']}/answer", {"text": secret})).status == 200
        ended = (await stream.until("card", state="exit 0")).data
        assert ended["lines"][-1] == "24 characters"
        assert (await page.post(f"api/calls/{asked['call']}/answer", {"text": secret})).status == 409
    held = [path for path in home.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert held == []


async def test_a_prompt_of_a_command_at_another_terminal_is_answered_here() -> None:
    """The person who ran `nacre run --pty` may be away from that terminal."""
    near, far = os.openpty()
    try:
        async with page_server() as page, page.follow() as stream:
            await stream.until("settled")
            command = [sys.executable, "-m", "nacre", "run", "--pty", "--", "read -rp 'Name? ' n; echo \"hello $n\""]
            program = await asyncio.create_subprocess_exec(*command, stdin=far, stdout=far, stderr=far)
            asked = (await stream.until("card", status="waiting")).data
            assert (asked["prompt"], asked["terminal"]) == ({"text": "Name?", "hidden": False}, True)
            assert (await page.post(f"api/calls/{asked['call']}/answer", {"text": "Ada"})).status == 200
            ended = (await stream.until("card", state="exit 0")).data
            assert ended["lines"][-1] == "hello Ada"
            assert await program.wait() == 0
    finally:
        os.close(near)
        os.close(far)


class Screen:
    """The rows as a browser has them."""

    def __init__(self) -> None:
        self.rows: dict[int, str] = {}
        self.state: dict[str, object] = {"ended": None}

    def take(self, news: dict[str, object]) -> None:
        self.state = news.get("state", self.state)  # type: ignore[assignment]
        for number, spans in news.get("rows", {}).items():  # type: ignore[attr-defined]
            self.rows[int(number)] = "".join(span[0] for span in spans)

    async def until(self, stream: object, *texts: str) -> None:
        while not all(any(text in row for row in self.rows.values()) for text in texts):
            self.take((await stream.until("screen")).data)  # type: ignore[attr-defined]


async def test_the_chart_counts_calls_and_tokens() -> None:
    small = Settings(output=OutputSettings(inline_bytes=2000, line_bytes=500))
    async with page_server() as page, nacre.Tool("workspace", settings=small) as tool:
        await tool.call({"command": "head -c 400 /dev/zero | tr '\\0' x"})
        await tool.call({"command": "exit 1"})
        found = (await page.get("api/activity?range=day")).json()
    assert (sum(found["calls"]), sum(found["failed"]), sum(found["tokens"])) == (2, 1, 100)
    assert found["problem"] is None
