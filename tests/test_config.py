"""The settings: defaults, the user's file, the project's file, the environment; wrong ones are named, never guessed."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nacre import Budget, config, setting_values
from nacre.config import Origin
from nacre.errors import ConfigError
from nacre.regular_file import read_regular
from nacre.setting_table import ABOUT
from nacre.settings import ExecutionSettings, JobSettings, OutputSettings, PolicySettings, Settings, ShellSettings


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment whose user has a settings file of his own."""
    return {"XDG_CONFIG_HOME": str(tmp_path / "user"), "HOME": "/home/somebody"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return path


def write(directory: Path, text: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / config.FILE_NAME
    path.write_text(text, encoding="utf-8")
    return path


def write_user(environ: dict[str, str], text: str) -> Path:
    return write(Path(environ["XDG_CONFIG_HOME"]) / "nacre", text)


def refusal(environ: dict[str, str], project: Path) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        config.load(environ, cwd=str(project))
    return caught.value


def keys() -> list[str]:
    return list(setting_values.all_settings())


def loosening() -> list[str]:
    return [key for key, setting in setting_values.all_settings().items() if setting.about.loosens]


# Where a setting comes from.


def test_without_files_and_variables_everything_is_a_default(environ: dict[str, str], project: Path) -> None:
    loaded = config.load(environ, cwd=str(project))
    assert loaded.settings == Settings()
    assert [origin.key for origin in loaded.origins] == sorted(keys())
    assert {origin.source for origin in loaded.origins} == {"default"}


def test_later_sources_win_and_each_value_knows_its_own(environ: dict[str, str], project: Path) -> None:
    user = write_user(environ, "[execution]\ngrace_seconds = 1\ntimeout_seconds = 10\n[log]\nlog_cap_bytes = 5\n")
    own = write(project, "[execution]\ngrace_seconds = 2\ntimeout_seconds = 20.5\n")
    loaded = config.load({**environ, "NACRE_GRACE_SECONDS": "3"}, cwd=str(project))
    assert loaded.settings.execution == ExecutionSettings(grace_seconds=3.0, timeout_seconds=20.5)
    assert loaded.settings.log.log_cap_bytes == 5
    assert [origin for origin in loaded.origins if origin.source != "default"] == [
        Origin("execution.grace_seconds", 3.0, "NACRE_GRACE_SECONDS"),
        Origin("execution.timeout_seconds", 20.5, str(own)),
        Origin("log.log_cap_bytes", 5, str(user)),
    ]


def test_the_table_explains_every_setting_of_the_sections_and_no_other() -> None:
    assert list(ABOUT) == keys()


def test_every_setting_has_a_variable_of_its_own() -> None:
    named = {key: setting.variable for key, setting in setting_values.all_settings().items()}
    assert len(set(named.values())) == len(named)
    assert named["execution.grace_seconds"] == "NACRE_GRACE_SECONDS"


@pytest.mark.parametrize(
    ("variable", "text", "section", "value"),
    [
        ("NACRE_CONTAINMENT", "required", "execution", "required"),
        ("NACRE_MAX_JOBS", "7", "jobs", 7),
        ("NACRE_JOB_HOURS", "0.5", "jobs", 0.5),
        ("NACRE_ENV_ALLOW", " A_TOKEN, B_* ,", "environment", ("A_TOKEN", "B_*")),
        ("NACRE_RULES_FILE", "~/rules.toml", "policy", "~/rules.toml"),
    ],
)
def test_a_variable_is_read_as_the_type_of_its_setting(
    environ: dict[str, str], project: Path, variable: str, text: str, section: str, value: object
) -> None:
    settings = config.load({**environ, variable: text}, cwd=str(project)).settings
    assert getattr(getattr(settings, section), variable.removeprefix("NACRE_").lower()) == value


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"NACRE_HOME": "/a", "XDG_STATE_HOME": "/b", "HOME": "/c"}, "/a"),
        ({"NACRE_HOME": "relative"}, f"{os.getcwd()}/relative"),
        ({"XDG_STATE_HOME": "/b", "HOME": "/c"}, "/b/nacre"),
        ({"NACRE_HOME": "", "HOME": "/c"}, "/c/.local/state/nacre"),
        ({}, f"/tmp/nacre-{os.getuid()}"),
    ],
)
def test_the_state_directory_is_nacre_home_or_the_user_s_state(environ: dict[str, str], expected: str) -> None:
    assert str(config.state_dir(environ)) == expected


# What is wrong is named.


def test_an_unknown_setting_names_the_file_the_line_and_the_nearest_key(environ: dict[str, str], project: Path) -> None:
    path = write_user(environ, "# mine\n[execution]\ngrace_second = 1\n")
    error = refusal(environ, project)
    assert (str(error), error.source, error.key) == (
        f"{path}:3: unknown setting execution.grace_second, whose value is 1; did you mean execution.grace_seconds?",
        str(path),
        "execution.grace_second",
    )


WRONG = [
    (
        "[zzz]\nqqq = true\n",
        ":2: unknown setting zzz.qqq, whose value is true; `nacre config show` lists all settings",
    ),
    ("grace_seconds = 1\n", ":1: grace_seconds is 1, and must be a table such as [execution]"),
    ("[execution]\ngrace_seconds = '1'\n", ':2: execution.grace_seconds is "1"; accepted: a number >= 0'),
    ("[execution]\ngrace_seconds = -1\n", ":2: execution.grace_seconds is -1; accepted: a number >= 0"),
    ("\nexecution.grace_seconds = nan\n", ":2: execution.grace_seconds is NaN; accepted: a number >= 0"),
    ("[execution]\n\ngrace_seconds = inf\n", ":3: execution.grace_seconds is Infinity; accepted: a number >= 0"),
    ("[execution]\ngrace_seconds = true\n", ":2: execution.grace_seconds is true; accepted: a number >= 0"),
    ("[output]\nkeep = 'all'\n", ':2: output.keep is "all"; accepted: "both", "tail"'),
    (
        "[output]\nartifact_head_bytes = 1.5\n",
        ":2: output.artifact_head_bytes is 1.5; accepted: a whole number >= 0",
    ),
    (
        "execution = {grace_seconds = []}\n",
        ": execution.grace_seconds is []; accepted: a number >= 0",
    ),
    ("[execution]\n[jobs\n", ":2: not valid TOML: Expected ']' at the end of a table declaration"),
    ("[execution", ":1: not valid TOML: Expected ']' at the end of a table declaration"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_a_wrong_file_of_the_user_is_an_error_that_names_it_and_what_would_do(
    environ: dict[str, str], project: Path, text: str, message: str
) -> None:
    path = write_user(environ, text)
    assert str(refusal(environ, project)) == f"{path}{message}"


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_a_wrong_file_of_the_project_is_left_aside_as_a_whole_and_said(
    environ: dict[str, str], project: Path, text: str, message: str
) -> None:
    write_user(environ, "[execution]\ntimeout_seconds = 10\n")
    path = write(project, f"{text}[jobs]\nasync_enabled = false\n" if text.endswith("\n") else text)
    loaded = config.load({**environ, "NACRE_GRACE_SECONDS": "3"}, cwd=str(project))
    assert loaded.settings == Settings(
        execution=ExecutionSettings(timeout_seconds=10.0, grace_seconds=3.0),
        notices=(f"the project's settings are left aside as a whole: {path}{message}",),
    )
    assert str(path) not in {origin.source for origin in loaded.origins}


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("NACRE_CONTAINMENT", "on", 'NACRE_CONTAINMENT is "on"; accepted: "auto", "required", "off"'),
        ("NACRE_MAX_JOBS", "1.5", 'NACRE_MAX_JOBS is "1.5"; accepted: a whole number >= 0'),
        ("NACRE_MAX_JOBS", "-1", "NACRE_MAX_JOBS is -1; accepted: a whole number >= 0"),
        ("NACRE_GRACE_SECONDS", "", 'NACRE_GRACE_SECONDS is ""; accepted: a number >= 0'),
    ],
)
def test_a_wrong_variable_is_an_error_that_names_it_and_what_would_do(
    environ: dict[str, str], project: Path, variable: str, text: str, message: str
) -> None:
    assert str(refusal({**environ, variable: text}, project)) == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[log]\n\xff\xfe", ":2: it is not UTF-8 text (byte 0xff); save it as UTF-8"),
        (b"a = " + b"[" * 100_000, ": its values are nested too deep; settings are flat"),
        (b"#" * 2_000_000, " is larger than 1048576 bytes, which no file of this kind needs"),
    ],
    ids=["bytes", "deep", "huge"],
)
def test_a_file_that_is_not_text_or_beyond_reason_is_an_error_of_the_user_and_a_notice_of_the_project(
    environ: dict[str, str], project: Path, content: bytes, message: str
) -> None:
    path = project / config.FILE_NAME
    path.write_bytes(content)
    notices = config.load(environ, cwd=str(project)).settings.notices
    assert notices == (f"the project's settings are left aside as a whole: {path}{message}",)
    mine = write_user(environ, "")
    mine.write_bytes(content)
    assert str(refusal(environ, project)) == f"{mine}{message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[output]\nartifact_cap_bytes = 1000\n",
            "output.artifact_head_bytes is 8388608; it must be less than artifact_cap_bytes, which is 1000",
        ),
        (
            "[jobs]\njob_head_bytes = 5\njob_cap_bytes = 5\n",
            "jobs.job_head_bytes is 5; it must be less than job_cap_bytes, which is 5",
        ),
    ],
)
def test_a_head_that_leaves_no_room_behind_it_is_an_error(
    environ: dict[str, str], project: Path, text: str, message: str
) -> None:
    path = write_user(environ, text)
    assert str(refusal(environ, project)).removeprefix(f"{path}: ") == message


def test_a_head_that_a_project_leaves_no_room_for_is_the_project_s_mistake(
    environ: dict[str, str], project: Path
) -> None:
    path = write(project, "[output]\nartifact_cap_bytes = 1000\n")
    assert config.load(environ, cwd=str(project)).settings == Settings(
        notices=(
            f"the project's settings are left aside as a whole: {path}: output.artifact_head_bytes is 8388608; "
            "it must be less than artifact_cap_bytes, which is 1000",
        )
    )


def test_settings_made_by_a_program_are_checked_too() -> None:
    with pytest.raises(ConfigError):
        Settings(output=OutputSettings(artifact_cap_bytes=10, artifact_head_bytes=10))
    with pytest.raises(ConfigError):
        Settings(jobs=JobSettings(job_cap_bytes=10, job_head_bytes=10))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (
            {"inline_bytes": 1_000},
            "output.inline_bytes is 1000; it must be at least 1024 and at most 1048576",
        ),
        (
            {"inline_bytes": 2_000_000},
            "output.inline_bytes is 2000000; it must be at least 1024 and at most 1048576",
        ),
        (
            {"inline_bytes": 2_000, "head_bytes": 2_001},
            "output.head_bytes is 2001; it must be at least 0 and at most inline_bytes, which is 2000",
        ),
        (
            {"line_bytes": 3},
            "output.line_bytes is 3; it must be at least 16 and at most inline_bytes, which is 51200",
        ),
    ],
)
def test_the_sizes_of_answers_have_bounds(sizes: dict[str, int], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        Settings(output=OutputSettings(**sizes))  # type: ignore[arg-type]


def test_a_project_s_file_makes_answers_smaller_and_never_larger(tmp_path: Path) -> None:
    settings = tmp_path / "nacre.toml"
    settings.write_text("[output]\ninline_bytes = 2000\n", encoding="utf-8")
    assert config.load({"HOME": "/nonexistent"}, cwd=str(tmp_path)).settings.output.inline_bytes == 2000
    settings.write_text("[output]\ninline_bytes = 60000\n", encoding="utf-8")
    loaded = config.load({"HOME": "/nonexistent"}, cwd=str(tmp_path)).settings
    assert loaded.output.inline_bytes == 51_200
    assert "more than 51200 loosens a protection" in loaded.notices[0]


# The shell: which bash, and its variables.


def test_shell_path_and_variables_come_from_the_user_s_file_and_the_environment(
    environ: dict[str, str], project: Path, tmp_path: Path
) -> None:
    other = tmp_path / "bash-of-mine"
    other.symlink_to("/bin/bash")
    path = write_user(environ, f"[shell]\npath = '{other}'\n[shell.env]\nSTAGE = 'test'\nLEVEL = '1'\n")
    assert config.load(environ, cwd=str(project)).settings.shell == ShellSettings(
        path=str(other), env=(("STAGE", "test"), ("LEVEL", "1"))
    )
    environ |= {"NACRE_SHELL_PATH": "/bin/bash", "NACRE_SHELL_ENV": "LEVEL=2, EMPTY=,EQUATION=a=b"}
    loaded = config.load(environ, cwd=str(project))
    variables = {"STAGE": "test", "LEVEL": "2", "EMPTY": "", "EQUATION": "a=b"}
    assert loaded.settings.shell == ShellSettings(env=tuple(variables.items()))
    assert Origin("shell.env", variables, f"{path}, NACRE_SHELL_ENV") in loaded.origins
    assert Origin("shell.path", "/bin/bash", "NACRE_SHELL_PATH") in loaded.origins


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "[shell]\npath = 'bash'\n",
            ': shell.path is "bash"; accepted: the absolute path of a bash, such as /bin/bash',
        ),
        (
            "[shell]\npath = '/bin/sh'\n",
            ': shell.path is "/bin/sh"; accepted: the absolute path of a bash, such as /bin',
        ),
        ("[shell]\npath = '/no/bash'\n", ': shell.path is "/no/bash", which does not exist, or is not visible to you'),
        ("[shell]\npath = '/etc/bash.bashrc'\n", ': shell.path is "/etc/bash.bashrc", which is no program'),
        ("[shell]\npath = 5\n", ":2: shell.path is 5; accepted: a text"),
        ("[shell]\nenv = 'A=1'\n", ':2: shell.env is "A=1"; accepted: a table of texts; in the variable NAME=VALUE,…'),
        ("[shell.env]\nA = 1\n", ":2: shell.env.A is 1; accepted: a text"),
        ("[shell.env]\n1A = 'x'\n", ': shell.env: "1A": a name is letters, digits and underscores'),
        ('[shell.env]\nA = "x\\u0000"\n', ': shell.env: "A": its value contains a NUL character'),
        ("[shell.env]\nNACRE_GUARD = 'off'\n", ': shell.env: "NACRE_GUARD": names that begin with NACRE_ are nacre\'s'),
    ],
)
def test_a_wrong_shell_names_the_file_and_the_value(
    environ: dict[str, str], project: Path, text: str, problem: str
) -> None:
    path = write_user(environ, text)
    assert str(refusal(environ, project)).startswith(f"{path}{problem}")


@pytest.mark.parametrize("text", ["[shell]\npath = '/bin/bash'\n", "[shell.env]\nBASH_ENV = './run-me'\n"])
def test_a_project_chooses_neither_the_shell_nor_its_variables(
    environ: dict[str, str], project: Path, text: str
) -> None:
    write(project, text)
    settings = config.load(environ, cwd=str(project)).settings
    assert settings.shell == ShellSettings()
    assert "loosens a protection, so a project's file cannot set it" in settings.notices[0]


# Rules of the guard, one by one.


@pytest.mark.parametrize(
    "text",
    [
        "[policy.rules]\nno_force_push = 'ask'\nextended = 'deny'\n",
        "[policy]\nrules.no_force_push = 'ask'\nrules.extended = 'deny'\n",
        "[policy]\nrules = {no_force_push = 'ask', extended = 'deny'}\n",
    ],
)
def test_a_rule_is_set_in_the_user_s_file(environ: dict[str, str], project: Path, text: str) -> None:
    path = write_user(environ, text)
    loaded = config.load(environ, cwd=str(project))
    assert loaded.settings.policy.rules == (("no_force_push", "ask"), ("extended", "deny"))
    assert Origin("policy.rules", {"no_force_push": "ask", "extended": "deny"}, str(path)) in loaded.origins


def test_a_rule_of_the_variable_wins_over_that_of_the_file_and_leaves_the_others(
    environ: dict[str, str], project: Path
) -> None:
    path = write_user(environ, "[policy.rules]\nno_force_push = 'ask'\nextended = 'deny'\n")
    environ["NACRE_POLICY_RULES"] = "no_force_push=allow, no_blind_git_add = deny,"
    loaded = config.load(environ, cwd=str(project))
    rules = {"no_force_push": "allow", "extended": "deny", "no_blind_git_add": "deny"}
    assert dict(loaded.settings.policy.rules) == rules
    assert Origin("policy.rules", rules, f"{path}, NACRE_POLICY_RULES") in loaded.origins


KNOWN_RULES = (
    '"no_dangerous_rm", "no_force_push", "no_blind_git_add", "no_hidden_script", "no_device_write", "no_fork_bomb", '
    '"no_system_permissions", "extended", "unchecked"'
)
DECISIONS = '"allow", "ask", "deny"'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("no_rm=deny", f"NACRE_POLICY_RULES: no_rm is unknown; known: {KNOWN_RULES}"),
        ("no_force_push=off", f'NACRE_POLICY_RULES: no_force_push is "off"; accepted: {DECISIONS}'),
        (
            "no_force_push",
            'NACRE_POLICY_RULES is "no_force_push"; accepted: a table; its names: '
            f"{KNOWN_RULES}; its values: {DECISIONS}",
        ),
    ],
)
def test_a_wrong_rule_in_the_variable_names_the_known_ones(
    environ: dict[str, str], project: Path, text: str, problem: str
) -> None:
    environ["NACRE_POLICY_RULES"] = text
    assert str(refusal(environ, project)) == problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[policy.rules]\nno_rm = 'deny'\n", f":2: policy.rules.no_rm is unknown; known: {KNOWN_RULES}"),
        ("[policy]\nrules.extended = 1\n", f":2: policy.rules.extended is 1; accepted: {DECISIONS}"),
        ("[policy.rules]\nextended = ['deny']\n", f':2: policy.rules.extended is ["deny"]; accepted: {DECISIONS}'),
        (
            "[policy]\nrules = 'deny'\n",
            f':2: policy.rules is "deny"; accepted: a table; its names: {KNOWN_RULES}; its values: {DECISIONS}',
        ),
    ],
)
def test_a_wrong_rule_in_the_file_names_the_line_and_the_known_ones(
    environ: dict[str, str], project: Path, text: str, problem: str
) -> None:
    path = write_user(environ, text)
    assert str(refusal(environ, project)) == f"{path}{problem}"


@pytest.mark.parametrize("decision", ["ask", "deny"])
def test_what_cannot_be_checked_is_asked_about_or_denied_but_never_allowed(
    environ: dict[str, str], project: Path, decision: str
) -> None:
    environ["NACRE_POLICY_RULES"] = f"unchecked={decision}"
    assert config.load(environ, cwd=str(project)).settings.policy.rules == (("unchecked", decision),)
    environ["NACRE_POLICY_RULES"] = "unchecked=allow"
    assert str(refusal(environ, project)).startswith(
        'NACRE_POLICY_RULES: policy.rules.unchecked is "allow"; accepted: "ask", "deny": '
    )


@pytest.mark.parametrize(
    ("user", "variable", "project_s", "holds", "aside"),
    [
        (None, None, 5, 5, False),
        (10, None, 5, 5, False),
        (10, None, 20, 10, True),
        (None, "10", 5, 5, False),
        (None, "10", 20, 10, True),
    ],
)
def test_a_project_only_tightens_a_budget(
    environ: dict[str, str],
    project: Path,
    user: int | None,
    variable: str | None,
    project_s: int,
    holds: int,
    aside: bool,
) -> None:
    if user is not None:
        write_user(environ, f"[budget]\nprocesses = {user}\n")
    if variable is not None:
        environ["NACRE_BUDGET_PROCESSES"] = variable
    write(project, f"[budget]\nprocesses = {project_s}\n")
    settings = config.load(environ, cwd=str(project)).settings
    assert settings.budget == Budget(processes=holds)
    assert [bool("can only tighten" in notice) for notice in settings.notices] == [True] * aside


def test_a_budget_of_nothing_is_refused_by_its_name() -> None:
    with pytest.raises(ConfigError, match=r"budget\.processes is 0; accepted: a number above 0"):
        Budget(processes=0)


def test_a_project_that_sets_a_rule_is_left_aside(environ: dict[str, str], project: Path) -> None:
    path = write(project, "[execution]\ngrace_seconds = 1\n[policy.rules]\nno_force_push = 'allow'\n")
    settings = config.load(environ, cwd=str(project)).settings
    assert replace(settings, notices=()) == Settings()
    assert settings.notices == (
        f"the project's settings are left aside as a whole: {path}:4: policy.rules is "
        '{"no_force_push": "allow"}, and loosens a protection, so a project\'s file cannot set it; '
        "put it in your own nacre.toml or the environment",
    )


# A project's file is not trusted.


def test_the_protections_are_marked() -> None:
    assert set(loosening()) >= {
        "execution.containment",
        "policy.guard",
        "policy.guard_profile",
        "policy.rules",
        "policy.rules_file",
        "environment.env_filter",
        "environment.env_profile",
        "environment.env_allow",
        "log.log_cap_bytes",
        "jobs.job_hours",
        "jobs.max_jobs",
        "jobs.job_cap_bytes",
        "output.artifact_days",
        "output.artifact_store_bytes",
    }


@pytest.mark.parametrize("key", loosening())
def test_a_project_cannot_loosen_a_protection_and_its_user_can(
    environ: dict[str, str], project: Path, key: str
) -> None:
    section, _, name = key.partition(".")
    default = getattr(getattr(Settings(), section), name)
    empty = "{}" if key in ("policy.rules", "shell.env") else "[]"
    value = {str: repr(default), tuple: empty, bool: str(default).lower()}.get(type(default), default)
    text = f"[{section}]\n{name} = {'~' if default is None else value}\n".replace("= ~", "= '~/rules'")
    path = write(project, f"[execution]\ngrace_seconds = 1\n{text}" if section != "execution" else text)
    settings = config.load(environ, cwd=str(project)).settings
    assert replace(settings, notices=()) == Settings()
    assert len(settings.notices) == 1
    assert settings.notices[0].startswith(f"the project's settings are left aside as a whole: {path}:")
    assert f": {key} is " in settings.notices[0]
    assert settings.notices[0].endswith(
        ", and loosens a protection, so a project's file cannot set it; "
        "put it in your own nacre.toml or the environment"
    )
    path.unlink()
    write_user(environ, text)
    assert config.load(environ, cwd=str(project)).settings == Settings(
        policy=PolicySettings(rules_file="~/rules" if key == "policy.rules_file" else None)
    )


@pytest.mark.parametrize(
    ("key", "most"),
    [("execution.grace_seconds", 5), ("execution.spares", 8), ("output.artifact_cap_bytes", 64 * 1024 * 1024)],
)
def test_a_project_may_set_less_but_not_more_of_what_a_promise_needs(
    environ: dict[str, str], project: Path, key: str, most: int
) -> None:
    section, _, name = key.partition(".")
    path = write(project, f"[{section}]\n{name} = {most}\n")
    loaded = config.load(environ, cwd=str(project)).settings
    assert (getattr(getattr(loaded, section), name), loaded.notices) == (most, ())
    write(project, f"[{section}]\n{name} = {most + 1}\n")
    (notice,) = config.load(environ, cwd=str(project)).settings.notices
    assert notice == (
        f"the project's settings are left aside as a whole: {path}:2: {key} is {most + 1}, and more than {most} "
        "loosens a protection, so a project's file cannot set it; put it in your own nacre.toml or the environment"
    )
    path.unlink()
    write_user(environ, f"[{section}]\n{name} = {most + 1}\n")
    assert getattr(getattr(config.load(environ, cwd=str(project)).settings, section), name) == most + 1


def test_a_project_may_set_what_loosens_nothing(environ: dict[str, str], project: Path) -> None:
    write(project, "[execution]\ntimeout_seconds = 5\n")
    assert config.load(environ, cwd=str(project)).settings.execution.timeout_seconds == 5.0


def _make_fifo(path: Path) -> None:
    os.mkfifo(path)


def _make_socket(path: Path) -> None:
    # A path of any length can be bound from inside its directory.
    with socket.socket(socket.AF_UNIX) as made:
        fd = os.open(path.parent, os.O_RDONLY)
        try:
            made.bind(f"/proc/self/fd/{fd}/{path.name}")
        finally:
            os.close(fd)


def _make_link_to_endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (_make_fifo, "a FIFO"),
        (_make_socket, "a socket"),
        (_make_link_to_endless, "a character device"),
        (Path.mkdir, "a directory"),
    ],
    ids=["fifo", "socket", "device", "directory"],
)
def test_what_is_no_regular_file_is_not_opened_and_said(
    environ: dict[str, str], project: Path, make: Callable[[Path], None], kind: str
) -> None:
    path = project / config.FILE_NAME
    make(path)
    loaded = config.load(environ, cwd=str(project))
    problem = f"is {kind}; put a regular file there, or take it away"
    assert loaded.settings == Settings(notices=(f"the project's settings are left aside as a whole: {path} {problem}",))
    mine = write_user(environ, "")
    mine.unlink()
    make(mine)
    assert str(refusal(environ, project)) == f"{mine} {problem}"


def test_a_file_of_the_kernel_that_states_no_size_is_read_up_to_the_cap(tmp_path: Path) -> None:
    assert read_regular("/proc/self/environ", most_bytes=1_000_000)
    with pytest.raises(ConfigError, match="is larger than 1 bytes"):
        read_regular("/proc/self/environ", most_bytes=1)


def test_a_user_s_file_in_a_directory_that_is_not_his_to_see_is_no_file(environ: dict[str, str], project: Path) -> None:
    assert config.load({"XDG_CONFIG_HOME": "/proc/1/nowhere/\0", "HOME": "/"}, cwd=str(project)).settings == Settings()


# Noticing a change.


def test_the_stamps_change_whenever_a_file_does(environ: dict[str, str], project: Path) -> None:
    seen = [config.file_stamps(environ, str(project))]
    for text in ("[execution]\ngrace_seconds = 1\n", "[execution]\ngrace_seconds = 20\n"):
        write(project, text)
        seen.append(config.file_stamps(environ, str(project)))
    write_user(environ, "")
    seen.append(config.file_stamps(environ, str(project)))
    assert len(set(seen)) == len(seen)
    assert config.file_stamps(environ, str(project)) == seen[-1]


# A sandbox, which a project can only make stricter.


@pytest.mark.parametrize(
    ("yours", "theirs", "holds"),
    [
        ("", 'mode = "required"', ("required", "workspace-write", "off")),
        ('mode = "required"', 'mode = "auto"', None),
        ('mode = "required"', 'mode = "off"', None),
        ("", 'access = "read-only"', ("off", "read-only", "off")),
        ("", 'access = "full"', None),
        ("", 'network = "on"', None),
        ('network = "on"', 'network = "host.test"', ("off", "workspace-write", "host.test")),
        ('network = "host.test,a.org"', 'network = "a.org"', ("off", "workspace-write", "a.org")),
        ('network = "host.test"', 'network = "evil.org"', None),
        ("", 'writable = ["/"]', None),
        ("", 'visible = ["~/.ssh"]', None),
        ("", "unix_sockets = true", None),
    ],
)
def test_a_project_only_makes_a_sandbox_stricter(
    environ: dict[str, str], project: Path, yours: str, theirs: str, holds: tuple[str, str, str] | None
) -> None:
    write_user(environ, f"[sandbox]\n{yours}\n")
    write(project, f"[sandbox]\n{theirs}\n")
    settings = config.load(environ, cwd=str(project)).settings
    found = settings.sandbox
    assert (len(settings.notices), holds) == ((1, None) if holds is None else (0, holds))
    if holds is not None:
        assert (found.mode, found.access, found.network) == holds


def test_of_a_project_and_a_variable_the_stricter_sandbox_holds(environ: dict[str, str], project: Path) -> None:
    write(project, '[sandbox]\nmode = "auto"\naccess = "read-only"\n')
    own = {**environ, "NACRE_SANDBOX": "required", "NACRE_SANDBOX_ACCESS": "full"}
    found = config.load(own, cwd=str(project)).settings.sandbox
    assert (found.mode, found.access) == ("required", "read-only")


def test_a_wrong_host_is_named(environ: dict[str, str], project: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"NACRE_SANDBOX_NETWORK: sandbox.network is .*'a b' is not HOST or HOST:PORT"
    ):
        config.load({**environ, "NACRE_SANDBOX_NETWORK": "a b"}, cwd=str(project))
