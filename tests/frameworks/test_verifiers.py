"""verifiers: a rollout of its own bash harness with a scripted model, and each method of a runtime."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import promises
import pytest
import verifiers.v1 as vf
from guide import run_example
from scripted_model import scripted_model
from verifiers.v1.agent import Agent
from verifiers.v1.configs.agent import AgentConfig
from verifiers.v1.configs.client import EvalClientConfig
from verifiers.v1.errors import SandboxError
from verifiers.v1.harnesses.utils.launch import CHAT_PROGRAM_SOURCE
from verifiers.v1.runtimes import ProgramResult, Runtime, SubprocessConfig, SubprocessRuntime

import nacre
from nacre.adapters.verifiers import NacreRuntime
from nacre.remote.link_thread import links
from nacre.remote.remote_backend import connect
from nacre.remote.wire import PrefixDialer


@pytest.fixture(autouse=True)
def no_links(no_leaks: None) -> Iterator[None]:
    yield
    links.end()


@pytest.fixture
async def runtime() -> AsyncIterator[NacreRuntime]:
    async with NacreRuntime() as made:
        directory = Path(made.workdir)
        assert directory.is_dir()
        yield made
    assert not directory.exists()


class Answering(vf.Task):
    """Wants 42 in a file of the box."""

    @vf.reward
    async def right(self, runtime: Runtime) -> float:
        return float((await runtime.read("answer.txt")).strip() == b"42")


def task() -> Answering:
    return Answering(vf.TaskData(idx=0, prompt="Write the answer into answer.txt."))


def agent_of(url: str) -> Agent:
    client = EvalClientConfig(base_url=url, api_key_var="NONE")
    return Agent(AgentConfig(model="scripted", client=client, runtime=SubprocessConfig()))


async def with_program(runtime: NacreRuntime) -> NacreRuntime:
    """Lay the harness's program ready, which the framework would have uv install from the network."""
    runtime.scripts_dir = f"{runtime.workdir}/scripts"
    source = CHAT_PROGRAM_SOURCE.encode()
    path = f"{runtime.scripts_dir}/{hashlib.sha256(source).hexdigest()}.py"
    await runtime.write(path, source)
    runtime._uv_interpreters[path] = sys.executable
    return runtime


async def test_a_rollout_with_the_frameworks_own_harness_is_scored(runtime: NacreRuntime) -> None:
    with scripted_model("echo $((6 * 7)) >answer.txt; cat answer.txt; setsid -f sleep 600 >/dev/null 2>&1") as url:
        trace = await agent_of(url).run(task(), runtime=await with_program(runtime))
    assert trace.errors == []
    assert trace.reward == 1.0
    assert trace.agent.runtime is not None
    assert trace.agent.runtime.borrowed


async def test_a_box_that_is_lost_is_an_error_of_the_sandbox_and_no_zero() -> None:
    async with (
        await connect(PrefixDialer(["env"], name="here")) as place,
        NacreRuntime(place, is_local=True) as runtime,
    ):
        with scripted_model(f"kill -9 {place.place['pid']}; sleep 600") as url:
            trace = await agent_of(url).run(task(), runtime=await with_program(runtime))
    assert trace.errors[-1].type == "SandboxError"
    assert "cause: infra" in trace.errors[-1].message


async def test_the_example_of_the_guide() -> None:
    class Ready(NacreRuntime):
        async def start(self) -> None:
            await super().start()
            await with_program(self)

    with scripted_model("echo 42 >answer.txt") as url, pytest.MonkeyPatch.context() as patched:
        patched.setattr("nacre.adapters.verifiers.NacreRuntime", Ready)
        names = await run_example("verifiers", agent=agent_of(url), task=task())
    assert names["trace"].reward == 1.0


def test_the_class_has_every_method_of_the_interface() -> None:
    assert not NacreRuntime.__abstractmethods__
    own = vars(NacreRuntime).keys()
    assert {"start", "run", "_read", "write", "open_process", "run_background", "teardown", "cleanup"} <= own


@pytest.mark.parametrize(
    ("argv", "env"),
    [
        (["echo", "$HOME;", "b c"], {}),
        (["sh", "-c", "echo out; echo err >&2; exit 3"], {}),
        (["sh", "-c", "echo $GREETING"], {"GREETING": "hi"}),
        (["cat"], {}),
    ],
)
async def test_run_answers_as_the_frameworks_own_does(runtime: NacreRuntime, argv: list[str], env: Any) -> None:
    own = SubprocessRuntime(SubprocessConfig())
    await own.start()
    try:
        assert await runtime.run(argv, env) == await own.run(argv, env)
    finally:
        await own.stop()


async def test_files_are_read_and_written(runtime: NacreRuntime) -> None:
    data = os.urandom(200_000)
    await runtime.write("a/b", data)
    assert await runtime.read("a/b") == data
    assert await runtime.read("a/b", max_bytes=200_000) == data
    with pytest.raises(SandboxError, match="over the 10 byte limit"):
        await runtime.read("a/b", max_bytes=10)
    with pytest.raises(SandboxError, match="No such file"):
        await runtime.read("nothing")
    assert (await runtime.run(["wc", "-c", "a/b"], {})).stdout == "200000 a/b\n"


async def test_another_user_runs_reads_and_writes(runtime: NacreRuntime) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    view = runtime.with_user("nobody", home="/tmp")
    assert (await view.run(["sh", "-c", "id -un; echo $HOME"], {})).stdout == "nobody\n/tmp\n"
    await runtime.run(["chmod", "755", "."], {})
    await runtime.write("mine", b"x")
    await runtime.run(["chmod", "600", "mine"], {})
    with pytest.raises(SandboxError, match="Permission denied"):
        await view.read("mine")


async def test_a_live_process_is_written_to_and_read_from(runtime: NacreRuntime) -> None:
    script = 'while read -r line; do echo "got $line"; echo "err $line" >&2; [ "$line" != end ] || exit 7; done'
    process = await runtime.open_process(["bash", "-c", script], {})
    assert await process.poll() is None
    await process.write(b"one\n")
    assert await anext(process.stdout) == b"got one\n"
    assert await anext(process.stderr) == b"err one\n"
    await process.write(b"end\n")
    assert await process.wait() == 7
    assert await process.poll() == 7
    assert [piece async for piece in process.stdout] == [b"got end\n"]


async def test_a_live_process_is_ended(runtime: NacreRuntime) -> None:
    process = await runtime.open_process(["bash", "-c", "setsid -f sleep 600; echo on; sleep 600"], {})
    assert await anext(process.stdout) == b"on\n"
    await process.terminate()
    assert await process.wait() == 143
    assert await runtime.alive()


async def test_a_background_server_ends_with_the_runtime(runtime: NacreRuntime) -> None:
    await runtime.run_background(["bash", "-c", "echo up; exec sleep 600"], {}, "server.log")
    while await runtime.run(["cat", "server.log"], {}) != ProgramResult(0, "up\n", ""):
        await asyncio.sleep(0.05)


async def test_a_place_that_was_given_stays_open() -> None:
    async with await connect(PrefixDialer(["env"], name="here")) as place:
        runtime = NacreRuntime(place)
        assert not runtime.is_local
        await runtime.start()
        await runtime.stop()
        await runtime.stop()
        assert not await runtime.alive()
        with pytest.raises(SandboxError, match="not started, or was stopped"):
            await runtime.run(["true"], {})
        assert (await nacre.run("echo on", backend=place)).text == "on\n"


async def test_a_budget_is_told_as_a_limit_with_its_clock(
    runtime: NacreRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NACRE_BUDGET_OUTPUT_BYTES", "4096")
    with pytest.raises(SandboxError, match="cause: limit, clock: output_bytes") as caught:
        await runtime.run(["yes"], {})
    assert (caught.value.cause, caught.value.clock) == ("limit", "output_bytes")


async def test_secrets_stay_out_and_the_guard_denies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leak = promises.with_a_secret(tmp_path, monkeypatch)["command"]
    async with NacreRuntime() as runtime:
        promises.check_secret((await runtime.run(["bash", "-c", leak], {})).stdout)
        denied = await runtime.run(["bash", "-c", promises.DENIED["command"]], {})
    promises.check_denied(denied.stderr)
    assert denied.exit_code == 126


async def test_a_cancelled_run_leaves_nothing(runtime: NacreRuntime, tmp_path: Path) -> None:
    async def ask(arguments: dict[str, Any]) -> str:
        return (await runtime.run(["bash", "-c", arguments["command"]], {})).stdout

    await promises.check_cancel(ask, tmp_path)
