"""Harbor: its own trial with its oracle agent and its verifier, and each method of an environment."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import promises
import pytest
from guide import run_example
from harbor.environments.base import BaseEnvironment
from harbor.models.task.config import EnvironmentConfig, NetworkMode, NetworkPolicy
from harbor.models.trial.config import AgentConfig, TaskConfig, TrialConfig
from harbor.models.trial.config import EnvironmentConfig as TrialEnvironmentConfig
from harbor.models.trial.paths import TrialPaths
from harbor.trial.trial import Trial

import nacre
from nacre.adapters.harbor import HarborCommandError, NacreEnvironment
from nacre.remote.link_thread import links
from nacre.remote.remote_backend import connect
from nacre.remote.wire import PrefixDialer

# The framework's trial reads what its task deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:Task.checksum:DeprecationWarning")

CLASS = "nacre.adapters.harbor:NacreEnvironment"
ENTRY = {
    "task.toml": "[verifier]\ntimeout_sec = 60\n[agent]\ntimeout_sec = 60\n[environment]\nbuild_timeout_sec = 60\n",
    "instruction.md": "Write the answer into /app/answer.txt.\n",
    "environment/Dockerfile": "FROM debian\n",
    "solution/solve.sh": "#!/bin/bash\necho $((6 * 7)) >answer.txt\nsetsid -f sleep 600\n",
    "tests/test.sh": '#!/bin/bash\n[ "$(cat /app/answer.txt)" = 42 ]; echo $((1 - $?)) >/logs/verifier/reward.txt\n',
}


@pytest.fixture(autouse=True)
def no_links(no_leaks: None) -> Iterator[None]:
    yield
    links.end()


@pytest.fixture
def task(tmp_path: Path) -> Path:
    for name, text in ENTRY.items():
        path = tmp_path / "task" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "task"


def make(tmp_path: Path, *, network: NetworkMode = NetworkMode.PUBLIC, **options: Any) -> NacreEnvironment:
    return NacreEnvironment(
        environment_dir=tmp_path,
        environment_name="task",
        session_id="task__env",
        trial_paths=TrialPaths(tmp_path / "trial"),
        task_env_config=EnvironmentConfig(),
        network_policy=NetworkPolicy(network_mode=network),
        **options,
    )


@pytest.fixture
async def environment(tmp_path: Path) -> AsyncIterator[NacreEnvironment]:
    made = make(tmp_path)
    await made.start(force_build=False)
    yield made
    await made.stop(delete=True)
    assert not list(Path(os.environ["TMPDIR"]).glob("nacre-harbor-*"))


def trial_of(task: Path, **kwargs: Any) -> TrialConfig:
    return TrialConfig(
        task=TaskConfig(path=task),
        trials_dir=task.parent / "trials",
        agent=AgentConfig(name="oracle"),
        environment=TrialEnvironmentConfig(import_path=CLASS, kwargs=kwargs),
    )


async def test_a_trial_with_the_oracle_agent_is_graded(task: Path) -> None:
    result = await (await Trial.create(trial_of(task))).run()
    assert result.exception_info is None
    assert result.verifier_result is not None
    assert result.verifier_result.rewards == {"reward": 1.0}
    (folder,) = (task.parent / "trials").iterdir()
    assert "nacre builds no image" in (folder / "trial.log").read_text(encoding="utf-8")


async def test_a_wrong_solution_is_a_zero_and_no_error(task: Path) -> None:
    (task / "solution" / "solve.sh").write_text("#!/bin/bash\necho 41 >answer.txt\n", encoding="utf-8")
    result = await (await Trial.create(trial_of(task))).run()
    assert (result.exception_info, result.verifier_result.rewards) == (None, {"reward": 0.0})


async def test_a_place_that_is_lost_is_an_error_and_no_zero(task: Path) -> None:
    # The solution kills the program that holds its place, as the end of a container does.
    (task / "solution" / "solve.sh").write_text("#!/bin/bash\nkill -9 1\nkill -9 -1\n", encoding="utf-8")
    result = await (await Trial.create(trial_of(task))).run()
    assert result.verifier_result is None
    assert result.exception_info is not None
    assert "cause: infra" in result.exception_info.exception_message


async def test_the_example_of_the_guide(task: Path) -> None:
    names = await run_example("Harbor", task=task, trials=task.parent / "trials")
    assert names["result"].verifier_result.rewards == {"reward": 1.0}


async def test_the_class_has_every_method_of_the_interface() -> None:
    assert BaseEnvironment.__abstractmethods__ <= vars(NacreEnvironment).keys()
    assert not NacreEnvironment.__abstractmethods__


async def test_exec_takes_directory_variables_user_and_limit(environment: NacreEnvironment) -> None:
    first = await environment.exec("pwd; echo $GREETING; echo err >&2; exit 3", cwd="/usr", env={"GREETING": "hi"})
    assert (first.stdout, first.stderr, first.return_code) == ("/usr\nhi\n", "err\n", 3)
    assert (await environment.exec("pwd")).stdout == "/app\n"
    assert (await environment.exec("id -u", user="root")).stdout == "0\n"
    if os.geteuid() == 0:
        assert (await environment.exec("id -un; echo $USER", user="nobody")).stdout == "nobody\nnobody\n"
    with pytest.raises(HarborCommandError, match="Command timed out after 1 seconds") as caught:
        await environment.exec(promises.TIMED["command"], timeout_sec=1)
    assert (caught.value.cause, caught.value.clock) == ("limit", "timeout")


async def test_the_system_is_read_only_and_the_home_is_private(environment: NacreEnvironment, tmp_path: Path) -> None:
    (tmp_path / "home" / "mine").touch()
    assert (await environment.exec("ls -A ~; ls -d /tmp/nacre-harbor-*")).stdout == ""
    refused = await environment.exec("touch /usr/nacre-was-here")
    assert (refused.return_code, "Read-only" in refused.stderr) == (1, True)
    await environment.exec("echo kept >/tmp/kept")
    assert (await environment.exec("cat /tmp/kept")).stdout == "kept\n"
    assert not Path("/tmp/kept").exists()


async def test_without_a_network_there_is_only_loopback(tmp_path: Path) -> None:
    closed = make(tmp_path, network=NetworkMode.NO_NETWORK)
    await closed.start(force_build=False)
    try:
        interfaces = await closed.exec("tail -n +3 /proc/net/dev | cut -d: -f1")
        assert interfaces.stdout.split() == ["lo"]
    finally:
        await closed.stop(delete=True)
    with pytest.raises(ValueError, match="no-network"):
        make(tmp_path, network=NetworkMode.NO_NETWORK, place="prefix:env")


async def test_files_and_directories_go_to_and_fro(environment: NacreEnvironment, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "deep").mkdir(parents=True)
    data = os.urandom(200_000)
    (source / "deep" / "data").write_bytes(data)
    (source / "run.sh").write_text("#!/bin/sh\necho ran\n", encoding="utf-8")
    (source / "run.sh").chmod(0o755)
    await environment.upload_dir(source, "/tests/it")
    assert (await environment.exec("/tests/it/run.sh")).stdout == "ran\n"
    await environment.upload_file(source / "run.sh", "/app/new/name.sh")
    assert (await environment.exec("/app/new/name.sh")).stdout == "ran\n"
    await environment.download_dir("/tests/it", tmp_path / "back")
    assert (tmp_path / "back" / "deep" / "data").read_bytes() == data
    assert (tmp_path / "back" / "run.sh").stat().st_mode & stat.S_IXUSR
    await environment.download_file("/tests/it/deep/data", tmp_path / "one" / "data")
    assert (tmp_path / "one" / "data").read_bytes() == data
    assert await environment.is_dir("/tests/it")
    assert not await environment.is_file("/tests/it")
    await environment.download_dir_filtered(source_dir="/tests/it", target_dir=tmp_path / "some", include=["*.sh"])
    assert [path.name for path in (tmp_path / "some").rglob("*")] == ["run.sh"]
    with pytest.raises(nacre.BackendError, match="No such file"):
        await environment.download_file("/nowhere", tmp_path / "none")


async def test_output_is_passed_on_while_it_comes(environment: NacreEnvironment) -> None:
    heard: list[tuple[str, str]] = []

    async def hear(text: str, stream: str) -> None:
        heard.append((text, stream))

    with environment.scoped_output_callback(hear):
        await environment.exec("echo one; echo two >&2")
    assert sorted(heard) == [("one\n", "stdout"), ("two\n", "stderr")]


async def test_a_place_that_was_given_stays_open_and_quiet(tmp_path: Path) -> None:
    async with await connect(PrefixDialer(["env"], name="here")) as place:
        given = make(tmp_path, place=place)
        await given.start(force_build=False)
        assert (await given.exec(f"cd {tmp_path}; setsid sleep 600 & echo on")).stdout == "on\n"
        assert [one["argv"] for one in await given.quiesce()] == [["sleep", "600"]]
        assert (await given.health())["host"]
        await given.stop(delete=True)
        assert (await nacre.run("echo on", backend=place)).text == "on\n"


async def test_secrets_stay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", promises.SECRET)
    (tmp_path / "leak.txt").write_text(f"the key is {promises.SECRET}\n", encoding="utf-8")
    environment = make(tmp_path)
    await environment.start(force_build=False)
    await environment.upload_file(tmp_path / "leak.txt", "/app/leak.txt")
    shown = await environment.exec("printenv OPENAI_API_KEY || echo no variable; cat leak.txt")
    promises.check_secret(shown.stdout)
    # A file that is carried is what it is.
    await environment.download_file("/app/leak.txt", tmp_path / "back.txt")
    await environment.stop(delete=True)
    assert promises.SECRET in (tmp_path / "back.txt").read_text(encoding="utf-8")


async def test_the_guard_denies(environment: NacreEnvironment) -> None:
    denied = await environment.exec(promises.DENIED["command"])
    promises.check_denied(denied.stderr)
    assert denied.return_code == 126


async def test_a_cancelled_call_leaves_nothing(environment: NacreEnvironment, tmp_path: Path) -> None:
    running = asyncio.create_task(environment.exec("setsid -f sleep 600; echo begun >/app/begun; sleep 600"))
    while not await environment.is_file("/app/begun"):
        assert not running.done()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await environment.exec("pgrep -x sleep")).stdout == ""
