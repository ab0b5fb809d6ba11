"""Values taken out of the environment stay out of whatever is shown: views, live tails, reads, survivors, errors."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nacre
from nacre.contracts.contract import Reply
from nacre.jobs.polling import poll
from nacre.jobs.table import JobTable
from nacre.output.escapes import strip
from nacre.settings import EnvironmentSettings, Settings
from nacre.tool import Tool

VALUE = "not-a-real-token-4711"
HIDDEN = "[redacted:GH_TOKEN]"
PATIENCE_SECONDS = 30.0
# Each prints the value in a form that only a view makes whole.
BROKEN = {
    "colour": r"printf 'a not-a-\033[31mreal-\033[0mtoken-4711 b\n'",
    "NUL": r"printf 'a not-a-\0real-\0token-4711 b\n'",
    "UTF-16": f"printf 'a {VALUE} b\\n' | iconv -t UTF-16LE",
    "title": r"printf 'a not-a-real\033]0;title\007-token-4711 b\n'",
    "control": r"printf 'a not-a-re\bal-token\004-4711 b\n'",
}


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_TOKEN", VALUE)


def _everything(reply: Reply) -> str:
    return json.dumps([reply.text, dict(reply.details), reply.bare, reply.notices, str(reply.refusal)])


@pytest.mark.parametrize("form", BROKEN)
async def test_a_value_that_the_view_makes_whole_is_hidden_in_it(tmp_path: Path, form: str) -> None:
    async with Tool("workspace", cwd=tmp_path) as tool:
        reply = await tool.call({"command": BROKEN[form]})
        cut = await tool.call({"command": f"{BROKEN[form]}; seq 20000"})
    assert reply.text.startswith(f"a {HIDDEN} b")
    assert cut.text.startswith(f"a {HIDDEN} b")


@pytest.mark.parametrize("form", BROKEN)
async def test_a_live_tail_shows_no_value(tmp_path: Path, form: str) -> None:
    async with Tool("workspace", cwd=tmp_path) as tool:
        items = [item async for item in tool.stream({"command": f"{BROKEN[form]}; sleep 0.2; echo"})]
    texts = [item.text for item in items]
    assert len(texts) > 1
    assert all(VALUE not in text for text in texts)
    assert any(HIDDEN in text for text in texts[:-1])


@pytest.mark.parametrize("form", BROKEN)
async def test_reads_of_kept_output_show_no_value(tmp_path: Path, home: Path, form: str) -> None:
    async with Tool("workspace", cwd=tmp_path) as tool:
        await tool.call({"command": f"{BROKEN[form]}; seq 20000"})
        started = await tool.call({"command": BROKEN[form], "async": True})
        job = started.details["async"]["jobId"]
        await poll(JobTable(home), [job], wait=PATIENCE_SECONDS)
    assert VALUE not in _everything(started)
    for companion, arguments in [
        ("read", {"id": 1}),
        ("read", {"id": 1, "grep": "^a"}),
        ("job", {"read": job}),
        ("job", {"read": job, "tail": 5}),
        ("job", {"read": job, "grep": "^a"}),
        ("job", {"poll": [job]}),
    ]:
        reply = await Tool(companion, settings=Settings()).call(arguments)
        assert VALUE not in _everything(reply), arguments
        assert reply.is_error or HIDDEN in reply.text or "poll" in arguments, arguments


# What a contract shows as it came: a value that a reader could put together there is hidden all the same.
ARGUMENTS: dict[str, Callable[[str], dict[str, Any]]] = {
    "basic": lambda command: {"command": command},
    "modes": lambda command: {"command": command},
    "anthropic": lambda command: {"command": command},
    "openai": lambda command: {"commands": [command]},
}
# The stream is searched without these; a text also without the others.
BROKEN_STREAMS = {name: BROKEN[name] for name in ("colour", "NUL", "UTF-16", "title")} | {
    "backspace": r"printf 'a not-a-re\bal-token-4711 b\n'"
}


def _is_readable(text: str) -> bool:
    return VALUE in strip(text)


@pytest.mark.parametrize("form", BROKEN)
@pytest.mark.parametrize("contract", ARGUMENTS)
async def test_a_text_with_terminal_control_shows_no_value(tmp_path: Path, contract: str, form: str) -> None:
    settings = Settings(environment=EnvironmentSettings(env_filter="on"))
    async with Tool(contract, cwd=tmp_path, settings=settings) as tool:
        reply = await tool.call(ARGUMENTS[contract](BROKEN[form]))
        cut = await tool.call(ARGUMENTS[contract](f"{BROKEN[form]}; seq 60000"))
    for answer in (reply, cut):
        shown = str(answer.json())
        assert HIDDEN in shown
        assert not _is_readable(answer.text or "".join(_texts(answer.bare)))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _texts(part)]


@pytest.mark.parametrize("form", BROKEN)
async def test_the_text_of_a_run_shows_no_value(form: str) -> None:
    result = await nacre.run(BROKEN[form])
    assert HIDDEN in result.text
    assert not _is_readable(result.text)


@pytest.mark.parametrize("form", BROKEN_STREAMS)
async def test_neither_the_stream_nor_what_is_kept_of_it_shows_a_value(tmp_path: Path, home: Path, form: str) -> None:
    def printed(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "nacre", *words], cwd=tmp_path, capture_output=True, timeout=30, check=True
        )
        return done.stdout.decode()

    async with Tool("workspace", cwd=tmp_path) as tool:
        await tool.call({"command": f"{BROKEN_STREAMS[form]}; seq 20000"})
        started = await tool.call({"command": BROKEN_STREAMS[form], "async": True})
        job = started.details["async"]["jobId"]
        await poll(JobTable(home), [job], wait=PATIENCE_SECONDS)
    shown = [
        printed("run", "--", BROKEN_STREAMS[form]),
        printed("jobs", "logs", job),
        printed("artifacts", "show", "1"),
        printed("artifacts", "grep", "a", "1"),
    ]
    kept = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    assert sum(HIDDEN.encode() in data for data in kept) >= 2
    assert all(HIDDEN in text for text in shown)
    assert not any(map(_is_readable, shown))
    assert not any(_is_readable(data.decode("utf-8", "replace")) for data in kept)


@pytest.mark.parametrize("contract", ["workspace", "modes"])
async def test_the_arguments_of_survivors_hide_values(tmp_path: Path, home: Path, contract: str) -> None:
    command = f"bash -c 'exec -a \"server --token={VALUE}\" sleep 100' >/dev/null 2>&1 & "
    # A process shows no arguments while it becomes another program.
    command += "until grep -q ^server /proc/$!/cmdline; do :; done"
    reply = await Tool(contract, cwd=tmp_path, settings=Settings()).call({"command": command})
    pids = [one["pid"] for one in reply.details["survivors"]]
    try:
        assert HIDDEN in json.dumps(reply.details["survivors"])
        assert VALUE not in _everything(reply)
        assert all(VALUE not in path.read_text() for path in home.rglob("*.jsonl"))
        assert any(HIDDEN in path.read_text() for path in home.rglob("*.jsonl"))
    finally:
        await nacre.run(f"kill {' '.join(map(str, pids))}")
        for job in JobTable(home).list().jobs:
            await poll(JobTable(home), [job.id], wait=PATIENCE_SECONDS)


@pytest.mark.parametrize(
    ("contract", "arguments"),
    [
        ("workspace", {"command": "true", "cwd": f"/nowhere/{VALUE}"}),
        ("workspace", {"command": f"cd /nowhere/{VALUE} && true"}),
        ("workspace", {"command": "true", "env": {f"1{VALUE}": "x"}}),
        ("workspace", {"command": "true", "timeout": VALUE}),
        ("workspace", {"command": "true", VALUE: 1}),
        ("workspace", {"command": f"cat artifact://{VALUE}"}),
        ("workspace", {"command": "true", "until": {"regex": f"({VALUE}"}}),
        ("modes", {"command": "true", "mode": VALUE}),
        ("openai", {"commands": VALUE}),
        ("anthropic", {"command": 1, "restart": VALUE}),
        ("read", {"id": VALUE}),
        ("job", {"read": VALUE}),
    ],
)
async def test_no_refusal_quotes_a_value(tmp_path: Path, home: Path, contract: str, arguments: dict[str, Any]) -> None:
    reply = await Tool(contract, cwd=tmp_path, settings=Settings()).call(arguments)
    assert reply.is_error or contract == "openai"
    assert VALUE not in _everything(reply)
    assert all(VALUE not in path.read_text() for path in home.rglob("*.jsonl"))


async def test_a_busy_session_names_its_command_without_the_value(tmp_path: Path) -> None:
    async with Tool("workspace", cwd=tmp_path, settings=Settings()) as tool:
        # The value stands where the message is cut.
        command = f"touch began; {'true; ' * 9} echo {VALUE}; sleep 100"
        first = asyncio.create_task(tool.call({"command": command}))
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (tmp_path / "began").exists():
                await asyncio.sleep(0.01)
        busy = await tool.call({"command": "echo", "timeout": 1})
        first.cancel()
        await asyncio.wait([first])
    assert busy.is_error
    assert "echo [redact" in busy.text
    assert VALUE[:4] not in _everything(busy)


async def test_an_error_that_is_raised_hides_the_value(tmp_path: Path) -> None:
    with pytest.raises(nacre.WorkingDirectoryError) as raised:
        await nacre.run("true", cwd=tmp_path / VALUE)
    assert HIDDEN in str(raised.value)
    assert VALUE not in str(raised.value) + raised.value.path
