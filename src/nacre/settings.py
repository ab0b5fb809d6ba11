"""Every setting with its default: a frozen tree, built once by config.py. setting_table.py explains each.

No other module reads settings from the environment or a file.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from nacre.call_budget import Budget
from nacre.command import SHELL
from nacre.errors import ConfigError, shown
from nacre.sandbox_settings import SandboxSettings as SandboxSettings

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


class ExecutionSettings(NamedTuple):
    """How commands are started and stopped."""

    containment: Literal["auto", "required", "off"] = "auto"
    grace_seconds: float | None = None
    spares: int = 2
    timeout_seconds: float = 300.0


class OutputSettings(NamedTuple):
    """How much output is kept and shown."""

    artifact_cap_bytes: int = 64 * MIB
    artifact_head_bytes: int = 8 * MIB
    keep: Literal["both", "tail"] = "both"
    inline_bytes: int = INLINE_BYTES
    head_bytes: int | None = None
    line_bytes: int = LINE_BYTES
    lift_head_tail: bool = True
    quiet_tools: bool = True
    artifact_days: float = 7.0
    artifact_store_bytes: int = 2 * GIB

    def check(self) -> None:
        """Raise ConfigError for values that do not go together."""
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


class MinimizerSettings(NamedTuple):
    """How a long output is shortened for a model."""

    minimize: bool = True
    only: tuple[str, ...] = ()
    except_: tuple[str, ...] = ()
    matcher_files: tuple[str, ...] = ()
    differences: bool = False
    reports: bool = False


class JobSettings(NamedTuple):
    """Background jobs."""

    job_cap_bytes: int = GIB
    job_head_bytes: int = 8 * MIB
    job_hours: float = 24.0
    async_enabled: bool = True
    max_jobs: int = 100
    auto_background_seconds: float = 60.0
    mcp_window_seconds: float = 45.0
    background_before_timeout: bool = False

    def check(self) -> None:
        """Raise ConfigError for values that do not go together."""
        _check_head(self.job_head_bytes, self.job_cap_bytes, "jobs.job_head_bytes", "job_cap_bytes")


class TerminalSettings(NamedTuple):
    """Commands on a terminal (`pty: true`, `nacre run --pty`)."""

    no_pty: bool = False
    escape: Literal["kill", "double"] = "kill"
    record: bool = True


class SessionSettings(NamedTuple):
    """Persistent shells."""

    persist: bool = True
    idle_seconds: float = 1800.0
    most: int = 16


class ShellSettings(NamedTuple):
    """How shells start: `path` and `env` in every contract but `basic`, the others in workspace tools."""

    path: str = SHELL
    env: Variables = ()
    prefix: str = ""
    snapshot: bool = True

    def check(self) -> None:
        """Raise ConfigError for values that do not go together."""
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


class PolicySettings(NamedTuple):
    """The guard and the interceptor."""

    guard: Literal["contract", "on", "off"] = "contract"
    guard_profile: Literal["default", "strict"] = "default"
    interceptor: bool = False
    interceptor_file: str | None = None
    rules: RuleDecisions = ()
    rules_file: str | None = None

    def check(self) -> None:
        """Raise ConfigError for values that do not go together."""
        if ("unchecked", "allow") in self.rules:
            problem = 'policy.rules.unchecked is "allow"; accepted: "ask", "deny": an unchecked command never just runs'
            raise ConfigError(problem, key="policy.rules")


class EnvironmentSettings(NamedTuple):
    """Which variables commands see."""

    env_filter: Literal["contract", "on", "off"] = "contract"
    env_profile: Literal["default", "strict"] = "default"
    env_allow: tuple[str, ...] = ()
    unset_defaults: tuple[str, ...] = ()


class UndoSettings(NamedTuple):
    """What destructive commands destroy is kept, so that it can be restored."""

    mode: Literal["off", "on"] = "off"
    trash_bytes: int = 2 * GIB
    undo_days: float = 7.0
    save_seconds: float = 10.0


class LogSettings(NamedTuple):
    """The audit log."""

    log_cap_bytes: int = 32 * MIB


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

    def __post_init__(self) -> None:
        for section in (self.output, self.jobs, self.shell, self.policy, self.sandbox):
            section.check()
