"""The command line: one verb per file; each decodes its arguments, calls the library once and prints.

stdout carries the result, stderr everything else. The module of a verb is imported only for that verb.
"""

from __future__ import annotations

import os
import sys

# Verb → its line in --help. The module is `verb_NAME`.
VERBS = {
    "run": "run a command, stream its output, exit with its code",
    "call": "make one tool call and print the tool's answer",
    "schema": "print a tool's schema as a model sees it",
    "check": "judge a command without running it",
    "env": "show what a command would see of the environment",
    "jobs": "list, show, wait for, read and stop background jobs",
    "artifacts": "list, show, search and prune kept outputs",
    "try": "run a command on an overlay of the workspace; commit or discard what it changed",
    "undo": "restore what a destructive command has destroyed",
    "log": "show the audit log",
    "events": "print what every nacre here does, as JSON lines",
    "watch": "show what every nacre here runs, live, in this terminal",
    "tui": "see what agents do, answer and take over, run commands of your own",
    "web": "the same as a page for a browser and a phone, live",
    "minimize": "shorten an output as a model would see it",
    "savings": "show what the minimiser saved, and how often that was regretted",
    "filters": "list, test and explain the filters of the minimiser",
    "rpc": "serve the tools to a program, as JSON lines on stdin and stdout",
    "cluster": "run commands on a Ray cluster: status, run, map",
    "doctor": "say what this machine can promise",
    "mcp": "serve the tools to an MCP client",
    "install": "add nacre to an editor or agent that speaks MCP",
    "config": "show the effective settings and where each came from",
    "completions": "print completions for bash, zsh or fish, or the man page",
}

# Option → its variable, its values, and its line in --help; before any verb, and on `run`.
PLACE_OPTIONS = {
    "--on": ("NACRE_ON", "PLACE", "run commands on another machine: ssh://HOST, docker:NAME, ray://ADDRESS, …"),
    "--sandbox": ("NACRE_SANDBOX", "off|auto|required", "confine commands (setting sandbox.mode)"),
    "--access": ("NACRE_SANDBOX_ACCESS", "read-only|workspace-write|full", "what a confined command may write"),
    "--network": ("NACRE_SANDBOX_NETWORK", "on|off|HOST[:PORT],…", "what a confined command may reach"),
}

_SUMMARY = """\
nacre: the shell for AI agents. It always comes back, loses nothing, leaves nothing behind.

usage: nacre [--on …] [--sandbox …] [--access …] [--network …] VERB …        nacre VERB --help explains a verb

{verbs}

examples:
  nacre run -- make test                            exits with make's code; 124 on timeout, 126 denied, 125 our failure
  nacre run --json -- 'false | tail'                one object with outcome, text, stage codes and notices
  nacre call modes '{{"command": "npm run dev", "mode": "background"}}'
  nacre jobs list
"""


def summary() -> str:
    """Return the first page of help."""
    return _SUMMARY.format(verbs="\n".join(f"  {name:<11} {text}" for name, text in VERBS.items()))


def _print(text: str) -> int:
    from nacre.cli.frame import guarded

    def work() -> int:
        print(text, end="")
        return 0

    return guarded(work)


def _take_options(arguments: list[str]) -> bool:
    """Take the options before the verb as settings of this process; False for one without a value."""
    while arguments:
        option, equals, value = arguments[0].partition("=")
        if option not in PLACE_OPTIONS:
            return True
        variable, values, _ = PLACE_OPTIONS[option]
        if not equals:
            if len(arguments) < 2:
                from nacre.cli.frame import complain

                complain(f"{option} needs a value: {values}")
                return False
            value = arguments.pop(1)
        os.environ[variable] = value
        arguments.pop(0)
    return True


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    try:
        os.getcwd()
    except FileNotFoundError:
        from nacre import config

        config.leave_deleted_directory()
    arguments = sys.argv[1:] if argv is None else argv
    if arguments and arguments[0].startswith("--") and not _take_options(arguments := list(arguments)):
        return 2
    verb = arguments[0] if arguments else "--help"
    if verb == "help" and arguments[1:2] and arguments[1] in VERBS:
        verb, arguments = arguments[1], [arguments[1], "--help"]
    if verb in ("-h", "--help", "help"):
        return _print(summary())
    if verb in ("-V", "--version", "version"):
        from nacre import __version__

        return _print(f"nacre {__version__}\n")
    if verb not in VERBS:
        import difflib

        near = difflib.get_close_matches(verb, VERBS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        from nacre.cli.frame import USAGE, complain

        complain(f"there is no verb {verb!r}.{hint} See nacre --help.")
        return USAGE
    from nacre.cli.frame import dispatch

    return dispatch(verb, arguments[1:])


if __name__ == "__main__":
    sys.exit(main())
