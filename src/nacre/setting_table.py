"""What each setting means, its variable, and what a project's file may do with it.

The sections in settings.py have names, types and defaults; a call reads those alone. A setting's variable is made of
its name (`jobs.auto_background_seconds` is `NACRE_AUTO_BACKGROUND_SECONDS`), unless it names another, as those do whose
names occur in two sections.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from nacre.settings import INLINE_BYTES, LEAST_INLINE_BYTES, LEAST_LINE_BYTES, MIB, MOST_INLINE_BYTES


class About(NamedTuple):
    """One setting, beside its type and its default."""

    doc: str
    loosens: bool = False
    """Whether it loosens a protection, or affects what other projects keep in the state directory: a project's file
    cannot set it."""
    project_most: float | None = None
    """The largest value in a project's file; a larger one would loosen a promise about the time or the resources of a
    call."""
    variable: str | None = None
    """Its environment variable, if not the one that its name gives."""
    tightens: bool = False
    """Whether a project's file may set it, but not above what you set."""
    stricter: Callable[[Any, Any], bool] | None = None
    """Of a setting that a project's file can only make stricter: whether the first value is at least as strict as the
    second."""


def _ranked(*values: str) -> Callable[[Any, Any], bool]:
    """Whether one of these values, from loose to strict, is at least as strict as another."""
    return lambda wanted, given: values.index(wanted) >= values.index(given)


def _is_narrower(wanted: str, given: str) -> bool:
    """Whether a network reaches no more than another."""
    if given == "on" or wanted == "off" or wanted == given:
        return True
    return given != "off" and wanted != "on" and set(wanted.split(",")) <= set(given.split(","))


ABOUT: dict[str, About] = {
    "execution.containment": About(
        "run commands under the warden: auto falls back with a notice, required refuses, off never", loosens=True
    ),
    "execution.grace_seconds": About(
        "seconds between TERM and KILL; unset leaves it to the contract (5, modes 15)", project_most=5.0
    ),
    "execution.spares": About(
        "shells started in advance for the next calls; 0 starts each when it is asked for", project_most=8
    ),
    "execution.timeout_seconds": About("limit of a command where the call names none (workspace, run)"),
    "output.artifact_cap_bytes": About(
        "largest artifact: its first bytes and its newest ones are kept", project_most=64 * MIB
    ),
    "output.artifact_head_bytes": About("how many of the first bytes an artifact keeps for good"),
    "output.keep": About("what a workspace result shows of a large output: its first and last lines, or only the last"),
    "output.inline_bytes": About(
        f"most bytes of output in one answer of the workspace, job and read tools; {LEAST_INLINE_BYTES} to "
        f"{MOST_INLINE_BYTES}",
        project_most=INLINE_BYTES,
    ),
    "output.head_bytes": About(
        "how many of them are the first lines, where lines are left out; unset is two fifths (20480)"
    ),
    "output.line_bytes": About(f"longer lines are cut in workspace results; {LEAST_LINE_BYTES} to inline_bytes"),
    "output.lift_head_tail": About("recognise a trailing `| head` or `| tail`: keep all, tell the real status"),
    "output.quiet_tools": About(
        "ask well-known tools for no progress in workspace and vendor calls (`nacre env` lists how)"
    ),
    "output.artifact_days": About("artifacts older than this are pruned", loosens=True),
    "output.artifact_store_bytes": About("the oldest artifacts are pruned beyond this size in all", loosens=True),
    "minimizer.minimize": About("shorten long outputs in workspace and vendor results; all is kept"),
    "minimizer.only": About("filters that shorten; empty is all (`nacre filters list` names them)"),
    "minimizer.except": About("filters that do not shorten"),
    "minimizer.matcher_files": About("JSON files of problem matchers: rows that match are never hidden", loosens=True),
    "minimizer.differences": About("of a command that runs again in a session, show what its last run did not say"),
    "minimizer.reports": About("have pytest write a report too, and show all of an output that does not agree with it"),
    "jobs.job_cap_bytes": About(
        "largest output file of a job: its first bytes and its newest ones are kept", loosens=True
    ),
    "jobs.job_head_bytes": About("how many of the first bytes a job's file keeps for good"),
    "jobs.job_hours": About("finished jobs are forgotten after this", loosens=True),
    "jobs.async_enabled": About("whether the workspace tool offers background jobs"),
    "jobs.max_jobs": About("how many jobs may run at once", loosens=True),
    "jobs.auto_background_seconds": About("a workspace command that outlives this becomes a job; 0 is off"),
    "jobs.mcp_window_seconds": About(
        "most seconds that a call over MCP waits for a command or a job: clients give up after 60; 0 is no limit"
    ),
    "jobs.background_before_timeout": About(
        "whether a command whose timeout is at most auto_background_seconds becomes a job one second before it"
    ),
    "pty.no_pty": About("run commands that ask for a terminal with pipes instead"),
    "pty.escape": About(
        "Esc in the console ends the command; `double` passes one Esc on and takes two for that",
        variable="NACRE_PTY_ESCAPE",
    ),
    "pty.record": About(
        "keep what a terminal shows as an asciicast, which `nacre log show` replays; what is typed is never kept",
        variable="NACRE_PTY_RECORD",
    ),
    "sessions.persist": About("commands of a workspace session share one bash; false gives each its own"),
    "sessions.idle_seconds": About("the shell of an unused session ends after this; its state is kept"),
    "sessions.most": About("how many idle sessions keep a shell at once"),
    "shell.path": About(
        "the bash that runs the commands, an absolute path; another shell is refused, as the guard reads bash",
        loosens=True,
        variable="NACRE_SHELL_PATH",
    ),
    "shell.env": About(
        "variables for every command; they win over your environment, and those of the call win over them",
        loosens=True,
        variable="NACRE_SHELL_ENV",
    ),
    "shell.prefix": About("words before every command of a workspace tool, such as `nice -n 5`", loosens=True),
    "shell.snapshot": About(
        "sessions of a workspace tool begin with functions, aliases, options and PATH of ~/.bashrc"
    ),
    "policy.guard": About(
        "judge commands before they run; `contract` leaves it to each (basic: off, others: on)", loosens=True
    ),
    "policy.guard_profile": About(
        "strict also denies the same damage by other means (find -delete, git clean, curl | sh …)", loosens=True
    ),
    "policy.interceptor": About("point to a better tool for cat, grep, find, sed -i and echo > file"),
    "policy.interceptor_file": About("a TOML file of interceptor rules in place of the default ones"),
    "policy.rules": About(
        "what a rule of the guard decides, by its name; a rule that is not named decides as its contract has it",
        loosens=True,
        variable="NACRE_POLICY_RULES",
    ),
    "policy.rules_file": About("a TOML file of your own allow, ask and deny rules", loosens=True),
    "environment.env_filter": About(
        "keep secrets out of commands; `contract` leaves it to each (basic: off, others: on)", loosens=True
    ),
    "environment.env_profile": About("strict passes core variables only", loosens=True),
    "environment.env_allow": About(
        "names or patterns with * that are kept although they look like secrets", loosens=True
    ),
    "environment.unset_defaults": About(
        "variables that nacre would set for a command and leaves as they are (the list is below)"
    ),
    "undo.mode": About(
        "save what a destructive command would destroy before it runs; see `nacre undo`",
        loosens=True,
        variable="NACRE_UNDO",
    ),
    "undo.trash_bytes": About(
        "most bytes that are kept in all; a command that would destroy more is not saved whole", loosens=True
    ),
    "undo.undo_days": About("what was saved longer ago is forgotten", loosens=True),
    "undo.save_seconds": About(
        "most seconds for saving before one command, of its own time: at most half of what it has", project_most=10.0
    ),
    "budget.cpu_seconds": About(
        "seconds of processor time, of all processes together", tightens=True, variable="NACRE_BUDGET_CPU_SECONDS"
    ),
    "budget.memory_bytes": About(
        "memory of all processes together", tightens=True, variable="NACRE_BUDGET_MEMORY_BYTES"
    ),
    "budget.processes": About("processes at once", tightens=True, variable="NACRE_BUDGET_PROCESSES"),
    "budget.file_bytes": About("size of a file that it writes", tightens=True, variable="NACRE_BUDGET_FILE_BYTES"),
    "budget.output_bytes": About("bytes that it prints", tightens=True, variable="NACRE_BUDGET_OUTPUT_BYTES"),
    "budget.wall_seconds": About(
        "seconds of its timeout; longer ones are cut to it", tightens=True, variable="NACRE_BUDGET_WALL_SECONDS"
    ),
    "sandbox.mode": About(
        "confine commands: auto with what this machine has, saying what that lacks; required refuses to run with less",
        variable="NACRE_SANDBOX",
        stricter=_ranked("off", "auto", "required"),
    ),
    "sandbox.access": About(
        "what a confined command may write: a private /tmp only, the workspace too, or everything",
        variable="NACRE_SANDBOX_ACCESS",
        stricter=_ranked("full", "workspace-write", "read-only"),
    ),
    "sandbox.network": About(
        "`on`, `off`, or the hosts that a confined command may reach: HOST[:PORT],… (without a port: 80 and 443)",
        variable="NACRE_SANDBOX_NETWORK",
        stricter=_is_narrower,
    ),
    "sandbox.writable": About(
        "directories beside the workspace that may be written", loosens=True, variable="NACRE_SANDBOX_WRITABLE"
    ),
    "sandbox.hidden": About(
        "files and directories that a confined command cannot read, beside the usual credential files",
        variable="NACRE_SANDBOX_HIDDEN",
        stricter=lambda wanted, given: set(wanted) >= set(given),
    ),
    "sandbox.visible": About("credential files that are not hidden", loosens=True, variable="NACRE_SANDBOX_VISIBLE"),
    "sandbox.protected": About(
        "further names in writable directories that stay as they are; with a final / directories",
        variable="NACRE_SANDBOX_PROTECTED",
        stricter=lambda wanted, given: set(wanted) >= set(given),
    ),
    "sandbox.unix_sockets": About(
        "whether a confined command may connect to UNIX sockets: to services outside, too",
        loosens=True,
        variable="NACRE_SANDBOX_UNIX_SOCKETS",
    ),
    "log.log_cap_bytes": About("the audit log is turned over at this size; one older part is kept", loosens=True),
}
