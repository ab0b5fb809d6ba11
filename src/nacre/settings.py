"""Every setting with its default and explanation: a frozen tree, built once by config.py.

Each has a variable: `jobs.auto_background_seconds` is `NACRE_AUTO_BACKGROUND_SECONDS`, unless it names another, as
those do whose names occur in two sections. No other module reads settings from the environment or a file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from nacre.call_budget import Budget
from nacre.command import SHELL
from nacre.errors import ConfigError, shown
from nacre.sandbox_settings import SandboxSettings as SandboxSettings
from nacre.setting_field import setting as _setting

Decision: TypeAlias = Literal["allow", "ask", "deny"]
RuleName: TypeAlias = Literal[
    "no_dangerous_rm",
    "no_force_push",
    "no_blind_git_add",
    "no_hidden_script",
    "no_device_write",
    "no_fork_bomb",
    "no_system_permissions",
    "extended",
    "unchecked",
]
RuleDecisions: TypeAlias = tuple[tuple[RuleName, Decision], ...]
"""Decisions of the guard's rules; the last of two about one rule holds."""
Variables: TypeAlias = tuple[tuple[str, str], ...]
"""Environment variables and their values."""

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

# The first error and the last lines of a large output matter most.
INLINE_BYTES = 50 * KIB
HEAD_BYTES = 20 * KIB
LINE_BYTES = 768
LEAST_INLINE_BYTES, MOST_INLINE_BYTES = KIB, MIB
LEAST_LINE_BYTES = 16


def _check_head(head_bytes: int, cap_bytes: int, key: str, cap: str) -> None:
    if head_bytes >= cap_bytes:
        raise ConfigError(f"{key} is {head_bytes}; it must be less than {cap}, which is {cap_bytes}", key=key)


def _check_range(value: int, least: int, most: int, key: str, spelled: str) -> None:
    if not least <= value <= most:
        raise ConfigError(f"{key} is {value}; it must be at least {least} and at most {spelled}", key=key)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionSettings:
    """How commands are started and stopped."""

    containment: Literal["auto", "required", "off"] = _setting(
        "auto",
        "run commands under the warden: auto falls back with a notice, required refuses, off never",
        loosens=True,
    )
    grace_seconds: float | None = _setting(
        None, "seconds between TERM and KILL; unset leaves it to the contract (5, modes 15)", project_most=5.0
    )
    spares: int = _setting(
        2, "shells started in advance for the next calls; 0 starts each when it is asked for", project_most=8
    )
    timeout_seconds: float = _setting(300.0, "limit of a command where the call names none (workspace, run)")


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSettings:
    """How much output is kept and shown."""

    artifact_cap_bytes: int = _setting(
        64 * MIB, "largest artifact: its first bytes and its newest ones are kept", project_most=64 * MIB
    )
    artifact_head_bytes: int = _setting(8 * MIB, "how many of the first bytes an artifact keeps for good")
    keep: Literal["both", "tail"] = _setting(
        "both", "what a workspace result shows of a large output: its first and last lines, or only the last"
    )
    inline_bytes: int = _setting(
        INLINE_BYTES,
        f"most bytes of output in one answer of the workspace, job and read tools; {LEAST_INLINE_BYTES} to "
        f"{MOST_INLINE_BYTES}",
        project_most=INLINE_BYTES,
    )
    head_bytes: int | None = _setting(
        None, "how many of them are the first lines, where lines are left out; unset is two fifths (20480)"
    )
    line_bytes: int = _setting(
        LINE_BYTES, f"longer lines are cut in workspace results; {LEAST_LINE_BYTES} to inline_bytes"
    )
    lift_head_tail: bool = _setting(
        default=True, doc="recognise a trailing `| head` or `| tail`: keep all, tell the real status"
    )
    quiet_tools: bool = _setting(
        default=True, doc="ask well-known tools for no progress in workspace and vendor calls (`nacre env` lists how)"
    )
    artifact_days: float = _setting(7.0, "artifacts older than this are pruned", loosens=True)
    artifact_store_bytes: int = _setting(
        2 * GIB, "the oldest artifacts are pruned beyond this size in all", loosens=True
    )

    def __post_init__(self) -> None:
        _check_head(
            self.artifact_head_bytes, self.artifact_cap_bytes, "output.artifact_head_bytes", "artifact_cap_bytes"
        )
        _check_range(
            self.inline_bytes, LEAST_INLINE_BYTES, MOST_INLINE_BYTES, "output.inline_bytes", str(MOST_INLINE_BYTES)
        )
        inline = f"inline_bytes, which is {self.inline_bytes}"
        _check_range(self.line_bytes, LEAST_LINE_BYTES, self.inline_bytes, "output.line_bytes", inline)
        if self.head_bytes is not None:
            _check_range(self.head_bytes, 0, self.inline_bytes, "output.head_bytes", inline)


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimizerSettings:
    """How a long output is shortened for a model."""

    minimize: bool = _setting(default=True, doc="shorten long outputs in workspace and vendor results; all is kept")
    only: tuple[str, ...] = _setting((), "filters that shorten; empty is all (`nacre filters list` names them)")
    except_: tuple[str, ...] = _setting((), "filters that do not shorten")
    matcher_files: tuple[str, ...] = _setting(
        (), "JSON files of problem matchers: rows that match are never hidden", loosens=True
    )
    differences: bool = _setting(
        default=False, doc="of a command that runs again in a session, show what its last run did not say"
    )
    reports: bool = _setting(
        default=False, doc="have pytest write a report too, and show all of an output that does not agree with it"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSettings:
    """Background jobs."""

    job_cap_bytes: int = _setting(
        GIB, "largest output file of a job: its first bytes and its newest ones are kept", loosens=True
    )
    job_head_bytes: int = _setting(8 * MIB, "how many of the first bytes a job's file keeps for good")
    job_hours: float = _setting(24.0, "finished jobs are forgotten after this", loosens=True)
    async_enabled: bool = _setting(default=True, doc="whether the workspace tool offers background jobs")
    max_jobs: int = _setting(100, "how many jobs may run at once", loosens=True)
    auto_background_seconds: float = _setting(60.0, "a workspace command that outlives this becomes a job; 0 is off")
    mcp_window_seconds: float = _setting(
        45.0, "most seconds that a call over MCP waits for a command or a job: clients give up after 60; 0 is no limit"
    )
    background_before_timeout: bool = _setting(
        default=False,
        doc="whether a command whose timeout is at most auto_background_seconds becomes a job one second before it",
    )

    def __post_init__(self) -> None:
        _check_head(self.job_head_bytes, self.job_cap_bytes, "jobs.job_head_bytes", "job_cap_bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalSettings:
    """Commands on a terminal (`pty: true`, `nacre run --pty`)."""

    no_pty: bool = _setting(default=False, doc="run commands that ask for a terminal with pipes instead")
    escape: Literal["kill", "double"] = _setting(
        "kill",
        "Esc in the console ends the command; `double` passes one Esc on and takes two for that",
        variable="NACRE_PTY_ESCAPE",
    )
    record: bool = _setting(
        default=True,
        doc="keep what a terminal shows as an asciicast, which `nacre log show` replays; what is typed is never kept",
        variable="NACRE_PTY_RECORD",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """Persistent shells."""

    persist: bool = _setting(
        default=True, doc="commands of a workspace session share one bash; false gives each its own"
    )
    idle_seconds: float = _setting(1800.0, "the shell of an unused session ends after this; its state is kept")
    most: int = _setting(16, "how many idle sessions keep a shell at once")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellSettings:
    """How shells start: `path` and `env` in every contract but `basic`, the others in workspace tools."""

    path: str = _setting(
        SHELL,
        "the bash that runs the commands, an absolute path; another shell is refused, as the guard reads bash",
        loosens=True,
        variable="NACRE_SHELL_PATH",
    )
    env: Variables = _setting(  # noqa: RUF009
        (),
        "variables for every command; they win over your environment, and those of the call win over them",
        loosens=True,
        variable="NACRE_SHELL_ENV",
    )
    prefix: str = _setting("", "words before every command of a workspace tool, such as `nice -n 5`", loosens=True)
    snapshot: bool = _setting(
        default=True,
        doc="sessions of a workspace tool begin with functions, aliases, options and PATH of ~/.bashrc",
    )

    def __post_init__(self) -> None:
        if not self.path.startswith("/") or "\0" in self.path or "bash" not in self.path.rpartition("/")[2]:
            problem = f"shell.path is {shown(self.path)}; accepted: the absolute path of a bash, such as {SHELL}"
            raise ConfigError(problem, key="shell.path")
        for name, value in self.env:
            problem = (
                "a name is letters, digits and underscores and does not begin with a digit"
                if not (name.isascii() and name.isidentifier())
                else "names that begin with NACRE_ are nacre's own; write the setting itself"
                if name.startswith("NACRE_")
                else "its value contains a NUL character"
                if "\0" in value
                else ""
            )
            if problem:
                raise ConfigError(f"shell.env: {shown(name)}: {problem}", key="shell.env")


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySettings:
    """The guard and the interceptor."""

    guard: Literal["contract", "on", "off"] = _setting(
        "contract",
        "judge commands before they run; `contract` leaves it to each (basic: off, others: on)",
        loosens=True,
    )
    guard_profile: Literal["default", "strict"] = _setting(
        "default",
        "strict also denies the same damage by other means (find -delete, git clean, curl | sh …)",
        loosens=True,
    )
    interceptor: bool = _setting(
        default=False, doc="point to a better tool for cat, grep, find, sed -i and echo > file"
    )
    interceptor_file: str | None = _setting(None, "a TOML file of interceptor rules in place of the default ones")
    rules: RuleDecisions = _setting(  # noqa: RUF009
        (),
        "what a rule of the guard decides, by its name; a rule that is not named decides as its contract has it",
        loosens=True,
        variable="NACRE_POLICY_RULES",
    )
    rules_file: str | None = _setting(None, "a TOML file of your own allow, ask and deny rules", loosens=True)

    def __post_init__(self) -> None:
        if ("unchecked", "allow") in self.rules:
            problem = 'policy.rules.unchecked is "allow"; accepted: "ask", "deny": an unchecked command never just runs'
            raise ConfigError(problem, key="policy.rules")


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentSettings:
    """Which variables commands see."""

    env_filter: Literal["contract", "on", "off"] = _setting(
        "contract", "keep secrets out of commands; `contract` leaves it to each (basic: off, others: on)", loosens=True
    )
    env_profile: Literal["default", "strict"] = _setting("default", "strict passes core variables only", loosens=True)
    env_allow: tuple[str, ...] = _setting(
        (), "names or patterns with * that are kept although they look like secrets", loosens=True
    )
    unset_defaults: tuple[str, ...] = _setting(
        (), "variables that nacre would set for a command and leaves as they are (the list is below)"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoSettings:
    """What destructive commands destroy is kept, so that it can be restored."""

    mode: Literal["off", "on"] = _setting(
        "off",
        "save what a destructive command would destroy before it runs; see `nacre undo`",
        loosens=True,
        variable="NACRE_UNDO",
    )
    trash_bytes: int = _setting(
        2 * GIB, "most bytes that are kept in all; a command that would destroy more is not saved whole", loosens=True
    )
    undo_days: float = _setting(7.0, "what was saved longer ago is forgotten", loosens=True)
    save_seconds: float = _setting(
        10.0,
        "most seconds for saving before one command, of its own time: at most half of what it has",
        project_most=10.0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """The audit log."""

    log_cap_bytes: int = _setting(
        32 * MIB, "the audit log is turned over at this size; one older part is kept", loosens=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings, by section."""

    execution: ExecutionSettings = field(default_factory=ExecutionSettings)
    output: OutputSettings = field(default_factory=OutputSettings)
    minimizer: MinimizerSettings = field(default_factory=MinimizerSettings)
    jobs: JobSettings = field(default_factory=JobSettings)
    pty: TerminalSettings = field(default_factory=TerminalSettings)
    sessions: SessionSettings = field(default_factory=SessionSettings)
    shell: ShellSettings = field(default_factory=ShellSettings)
    policy: PolicySettings = field(default_factory=PolicySettings)
    environment: EnvironmentSettings = field(default_factory=EnvironmentSettings)
    undo: UndoSettings = field(default_factory=UndoSettings)
    budget: Budget = field(default_factory=Budget)
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    log: LogSettings = field(default_factory=LogSettings)
    notices: tuple[str, ...] = ()
    """Problems with the sources of the settings, for the first result of each session."""
