"""inspect_ai: the framework's own checks of a sandbox, and an evaluation with a scripted model.

As root the checks run as an ordinary user who can become root, as in a container; one of them adds a user to the
machine and removes it again.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import promises
import pytest
from inspect_ai.util import OutputLimitExceededError, SandboxEnvironment, SandboxEnvironmentSpec
from inspect_ai.util._sandbox import self_check
from inspect_ai.util._sandbox.limits import override_max_exec_output_size
from inspect_ai.util._sandbox.self_check import *  # noqa: F403

from nacre.adapters.inspect_ai import NacreSandboxConfig, NacreSandboxEnvironment
from nacre.warden import children

EVALUATION = Path(__file__).with_name("evaluation.py")
PATIENCE_SECONDS = 50.0

IS_ROOT = os.geteuid() == 0
NEEDS_ROOT = {"test_exec_as_user": "only root can make a user and act as that user"}


@pytest.fixture
async def sandbox_env(request: pytest.FixtureRequest) -> AsyncIterator[SandboxEnvironment]:
    if not IS_ROOT and request.node.originalname in NEEDS_ROOT:
        pytest.skip(NEEDS_ROOT[request.node.originalname])
    # Where another user can reach it: the directories of tests are closed to others.
    place = Path(tempfile.mkdtemp(prefix="nacre-inspect-"))
    place.chmod(0o755)
    config = NacreSandboxConfig(user="nobody" if IS_ROOT else None, directory=str(place))
    environments = await NacreSandboxEnvironment.sample_init("task", config, {})
    yield environments["default"]
    await NacreSandboxEnvironment.sample_cleanup("task", config, environments, interrupted=False)
    left = list(place.iterdir())
    shutil.rmtree(place)
    assert left == []


def test_the_own_checks_of_the_framework_are_here() -> None:
    assert set(self_check.__all__) <= set(globals())
    assert len(self_check.__all__) >= 40


def test_the_promises_and_the_example_of_the_guide_hold_in_evaluations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = promises.with_a_secret(tmp_path, monkeypatch)
    commands = ["pwd; echo $((6 * 7))", *(call["command"] for call in (secret, promises.DENIED, promises.TIMED))]
    done = subprocess.run(
        [sys.executable, str(EVALUATION), *commands],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"INSPECT_DISPLAY": "none", "XDG_DATA_HOME": str(tmp_path / "data")},
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    example, (place, hidden, denied, timed) = json.loads(done.stderr)
    assert example == ["42\n"]
    directory, answer = place.split()
    assert (Path(directory).name.startswith("nacre-sandbox-"), answer) == (True, "42")
    assert not Path(directory).exists()
    promises.check_secret(hidden)
    promises.check_denied(denied)
    assert "timed out" in timed


async def test_a_cancelled_command_leaves_nothing(sandbox_env: SandboxEnvironment, tmp_path: Path) -> None:
    async def run(arguments: dict[str, Any]) -> str:
        # As the user whose directory the test's is.
        user = str(os.geteuid())
        return (await sandbox_env.exec(["bash", "-c", arguments["command"]], user=user)).stdout

    await promises.check_cancel(run, tmp_path)


async def test_more_output_than_the_limit_is_an_error_with_the_newest(sandbox_env: SandboxEnvironment) -> None:
    with override_max_exec_output_size(10), pytest.raises(OutputLimitExceededError) as caught:
        await sandbox_env.exec(["seq", "100"])
    assert caught.value.truncated_output == "98\n99\n100\n"


async def test_a_budget_that_is_used_up_is_a_limit_and_no_lost_sandbox(
    sandbox_env: SandboxEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NACRE_BUDGET_PROCESSES", "20")
    with pytest.raises(TimeoutError, match="budget used up: 20 processes at once"):
        await sandbox_env.exec(["bash", "-c", "for i in $(seq 60); do sleep 30 & done; wait"])


async def test_a_program_that_is_not_there_is_a_result(sandbox_env: SandboxEnvironment) -> None:
    result = await sandbox_env.exec(["no-such-program"])
    assert (result.success, result.returncode) == (False, 127)


async def test_a_status_of_126_is_the_programs_own_where_it_could_be_executed(sandbox_env: SandboxEnvironment) -> None:
    assert (await sandbox_env.exec(["bash", "-c", "exit 126"])).returncode == 126


async def test_names_of_builtins_are_programs(sandbox_env: SandboxEnvironment) -> None:
    assert (await sandbox_env.exec(["cd", "/"])).returncode == 127
    assert (await sandbox_env.exec(["echo", "$HOME; false"])).stdout == "$HOME; false\n"


async def test_a_directory_that_is_not_there_is_named(sandbox_env: SandboxEnvironment) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        await sandbox_env.exec(["true"], cwd="missing")


async def test_what_a_command_leaves_running_serves_the_next_and_ends_with_the_sample(
    sandbox_env: SandboxEnvironment,
) -> None:
    # A daemon that begins a process of its own after the command has ended.
    daemon = "mkfifo go; setsid sh -c 'read line <go; sleep 600 & echo $! >pid; sleep 600' >/dev/null 2>&1 &"
    await sandbox_env.exec(["sh", "-c", daemon])
    shown = await sandbox_env.exec(
        ["sh", "-c", "echo x >go; until [ -s pid ]; do sleep 0.01; done; cat pid"], timeout=20
    )
    assert children.command_line(int(shown.stdout)) == ["sleep", "600"]


@pytest.mark.skipif(not IS_ROOT, reason="only root can act as another user")
async def test_the_users_groups_and_home_are_the_users_own(sandbox_env: SandboxEnvironment) -> None:
    shown = await sandbox_env.exec(["sh", "-c", "id -u; id -G; echo $HOME $USER"])
    assert shown.stdout == "65534\n65534\n/nonexistent nobody\n"
    with pytest.raises(PermissionError):
        await sandbox_env.read_file("/etc/shadow")


async def test_a_configuration_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must be a NacreSandboxConfig, got 'compose\.yaml'"):
        await NacreSandboxEnvironment.sample_init("task", "compose.yaml", {})


def test_a_configuration_survives_a_log() -> None:
    spec = SandboxEnvironmentSpec("nacre", NacreSandboxConfig(user="nobody"))
    assert SandboxEnvironmentSpec.model_validate(spec.model_dump()) == spec
