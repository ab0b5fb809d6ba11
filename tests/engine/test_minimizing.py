"""Which calls have their output shortened, and that all of it is kept first (D15, D26, D41)."""

from __future__ import annotations

from pathlib import Path

import pytest

import nacre
from nacre.settings import MinimizerSettings, Settings

# What no filter knows by its name, on both streams, with a fault in the middle.
SCRIPT = """
for number in $(seq 300); do
    echo "handled order $number"
    [ $number = 150 ] && echo "ERROR: order 150 was lost" >&2
done
exit 3
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("NACRE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "orders.sh").write_text(SCRIPT, encoding="utf-8")
    return f"bash {tmp_path}/orders.sh"


def _raw_of(tool: nacre.Tool, artifact: str) -> tuple[str, str]:
    store = tool.engine.artifacts
    (entry,) = [one for one in store.list() if one.id == int(artifact)]
    return entry.kind, Path(store.plain_path(entry.id)).read_text(encoding="utf-8")


@pytest.mark.parametrize("contract", ["workspace", "anthropic"])
async def test_a_models_view_is_shortened_and_the_raw_text_is_kept(contract: str, script: str, tmp_path: Path) -> None:
    tool = nacre.Tool(contract, cwd=str(tmp_path))
    reply = await tool.call({"command": script})
    artifact = reply.details["artifactId"]
    lines = reply.text.split("\n")
    assert "handled order 1 (×150)" in reply.text
    assert "ERROR: order 150 was lost" in lines
    kind, raw = _raw_of(tool, artifact)
    # `anthropic` has no tool that knows artifacts, but a shell that knows files.
    path = tool.engine.artifacts.plain_path(int(artifact))
    footer = lines.index(f"[raw output: {path if contract == 'anthropic' else f'artifact://{artifact}'}]")
    assert lines[footer - 1].endswith("0 error lines hidden]")
    assert kind == "bash-original"
    assert raw.count("\n") == 301
    minimized = reply.details["minimized"]
    assert (minimized["filter"], minimized["rawBytes"]) == ("generic", len(raw))
    assert minimized["artifactId"] == artifact
    await tool.aclose()


async def test_each_stream_of_the_openai_contract_is_shortened_by_itself(script: str, tmp_path: Path) -> None:
    tool = nacre.Tool("openai", cwd=str(tmp_path))
    more = f"{script}\nfor n in $(seq 200); do echo retry $n >&2; done; echo 'fatal: no answer' >&2; exit 4"
    (tmp_path / "more.sh").write_text(more, encoding="utf-8")
    (output,) = (await tool.call({"commands": ["bash more.sh"]})).json()["output"]
    assert output["outcome"] == {"type": "exit", "exit_code": 4}
    assert output["stdout"].startswith("handled order 1 (×297)\n")
    assert "ERROR: order 150 was lost\nretry 1 (×198)\nretry 199\nretry 200\nfatal: no answer\n" in output["stderr"]
    paths = [output[name].rstrip().rpartition("\n")[2] for name in ("stdout", "stderr")]
    texts = [Path(path.removeprefix("[raw output: ").removesuffix("]")).read_text("utf-8") for path in paths]
    assert [text.count("\n") for text in texts] == [300, 202]
    await tool.aclose()


async def test_output_that_the_window_does_not_hold_is_shortened_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NACRE_HOME", str(tmp_path / "state"))
    tool = nacre.Tool("workspace", cwd=str(tmp_path))
    loop = "for n in range(60000): print('handled order', n)\nprint('ERROR: order 60000 was lost')"
    (tmp_path / "orders.py").write_text(loop, encoding="utf-8")
    reply = await tool.call({"command": "python3 orders.py; exit 3"})
    assert "ERROR: order 60000 was lost" in reply.text
    minimized = reply.details["minimized"]
    assert minimized["rawBytes"] > 1024 * 1024
    kinds = [one.kind for one in tool.engine.artifacts.list()]
    assert kinds == ["bash-original"]
    assert _raw_of(tool, minimized["artifactId"])[1].count("\n") == 60001
    await tool.aclose()


@pytest.mark.parametrize("arguments", [{"raw": True}, {"head": 500}])
async def test_a_call_can_ask_for_all_or_for_some_lines(
    arguments: dict[str, object], script: str, tmp_path: Path
) -> None:
    tool = nacre.Tool("workspace", cwd=str(tmp_path))
    reply = await tool.call({"command": script, **arguments})
    assert reply.text.count("handled order") == 300
    assert "minimized" not in reply.details
    await tool.aclose()


@pytest.mark.parametrize("contract", ["basic", "modes"])
async def test_other_contracts_show_what_there_is(contract: str, script: str, tmp_path: Path) -> None:
    tool = nacre.Tool(contract, cwd=str(tmp_path))
    reply = await tool.call({"command": script})
    assert reply.text.count("handled order") == 300
    await tool.aclose()


async def test_a_program_gets_everything(script: str) -> None:
    assert (await nacre.run(script)).text.count("handled order") == 300


async def test_the_setting_switches_it_off(script: str, tmp_path: Path) -> None:
    settings = Settings(minimizer=MinimizerSettings(minimize=False))
    tool = nacre.Tool("workspace", cwd=str(tmp_path), settings=settings)
    assert (await tool.call({"command": script})).text.count("handled order") == 300
    await tool.aclose()


async def test_a_wrong_filter_of_the_user_is_told_and_left_aside(script: str, tmp_path: Path) -> None:
    folder = tmp_path / "config" / "nacre" / "filters"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text("colour = 'red'", encoding="utf-8")
    tool = nacre.Tool("workspace", cwd=str(tmp_path))
    reply = await tool.call({"command": script})
    assert "ERROR: order 150 was lost" in reply.text
    assert "handled order 1 (×150)" in reply.text
    assert f"a filter is left aside: {folder}/mine.toml: unknown key 'colour'" in reply.text
    (folder / "mine.toml").unlink()
    assert "left aside" not in (await tool.call({"command": script})).text
    await tool.aclose()


async def test_a_wrong_matcher_file_is_told_and_nothing_is_hidden(script: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text("{}", encoding="utf-8")
    settings = Settings(minimizer=MinimizerSettings(matcher_files=(str(path),)))
    tool = nacre.Tool("workspace", cwd=str(tmp_path), settings=settings)
    text = (await tool.call({"command": script})).text
    assert text.count("handled order") == 300
    assert f"the output is not shortened: {path}: not a file of problem matchers" in text
    path.write_text('{"problemMatcher": [{"owner": "o", "pattern": {"regexp": "^handled order 77$"}}]}')
    assert "handled order 77" in (await tool.call({"command": script})).text.split("\n")
    await tool.aclose()
