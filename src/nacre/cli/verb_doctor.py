"""`nacre doctor`: shows which promises hold on this machine, what is missing, and how to get it."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from nacre import config
from nacre.api import PROFILE, run_sync
from nacre.backends.spare_shells import missing_reason
from nacre.command import SHELL, Command
from nacre.engine.engine import forget_engines, from_environment
from nacre.errors import ConfigError, NacreError
from nacre.guard.approval import policy_of
from nacre.guard.interceptor_file import interceptor_of
from nacre.guard.review import review
from nacre.sandbox.probing import is_outdated, probe
from nacre.sandbox.sandbox_policy import NEEDS
from nacre.settings import SandboxSettings, Settings
from nacre.state_directory import files
from nacre.warden.privacy import become_unreadable
from nacre.warden_client.pool import unsupported_reason

EPILOG = "Exits with 1 when a promise cannot be kept here."


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one part."""

    part: str
    ok: bool
    says: str
    advice: str | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one object a finding in an array")


def main(namespace: argparse.Namespace) -> int:
    state = _state()
    with _own_state():
        tried = [_containment(), _spares(), state, _guard(), _secrets(), _sandbox()]
    findings = [_python(), _shell(), _settings(), *tried]
    if namespace.json:
        print(json.dumps([asdict(finding) for finding in findings]))
    else:
        for finding in findings:
            print(f"{'ok  ' if finding.ok else 'LACK'}  {finding.part:<12} {finding.says}")
            if finding.advice:
                print(f"{'':<20}{finding.advice}")
    return 0 if all(finding.ok for finding in findings) else 1


@contextlib.contextmanager
def _own_state() -> Iterator[None]:
    """Keep the experiments out of the user's log, and so out of its counts and from its viewers."""
    before = os.environ.get("NACRE_HOME")
    with tempfile.TemporaryDirectory(prefix="nacre-doctor-") as directory:
        os.environ["NACRE_HOME"] = directory
        try:
            yield
        finally:
            forget_engines()
            if before is None:
                del os.environ["NACRE_HOME"]
            else:
                os.environ["NACRE_HOME"] = before


def _python() -> Finding:
    return Finding("python", ok=True, says=f"{platform.python_version()} on {platform.system()} {platform.release()}")


def _shell() -> Finding:
    try:
        shell = config.load(os.environ, cwd=config.working_directory()).settings.shell.path
    except ConfigError:
        # The next finding reports the error.
        shell = SHELL
    if not os.access(shell, os.X_OK):
        return Finding(
            "bash", ok=False, says=f"{shell} is missing", advice="install bash; on Debian: apt-get install bash"
        )
    version = subprocess.run(
        [shell, "-c", "echo $BASH_VERSION"], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    ).stdout.strip()
    if not version:
        return Finding("bash", ok=False, says=f"{shell} is no bash", advice="correct the setting shell.path")
    return Finding("bash", ok=True, says=f"{shell} {version}")


def _settings() -> Finding:
    try:
        loaded = config.load(os.environ, cwd=config.working_directory())
    except ConfigError as error:
        return Finding("settings", ok=False, says=str(error), advice="until it is corrected every call is refused")
    try:
        policy_of(loaded.settings.policy, PROFILE)
        warnings = interceptor_of(loaded.settings.policy.interceptor_file).warnings
    except ConfigError as error:
        return Finding("settings", ok=False, says=str(error), advice="until it is corrected every call is refused")
    if problems := (*loaded.settings.notices, *warnings):
        return Finding(
            "settings",
            ok=False,
            says="; ".join(problems),
            advice="calls go on without what is left aside; correct it, or remove it",
        )
    changed = [origin.key for origin in loaded.origins if origin.source != "default"]
    return Finding("settings", ok=True, says=f"changed: {', '.join(changed)}" if changed else "the defaults")


def _containment() -> Finding:
    """Test by experiment that a daemon outside its session does not outlive the timeout of its command."""
    if reason := unsupported_reason():
        return Finding(
            "containment",
            ok=False,
            says=f"off: {reason}",
            advice="commands run, but a daemon they start may outlive a timeout, and there are no background jobs",
        )
    try:
        result = run_sync("setsid -f sleep 60; sleep 60", timeout=0.2, cwd="/")
    except NacreError as error:
        return Finding("containment", ok=False, says=f"a command could not be run: {error}")
    # Another finding reports problems of the settings.
    known = from_environment().settings.notices
    if notices := [one for one in result.notices if one not in known]:
        return Finding("containment", ok=False, says="; ".join(notices))
    return Finding("containment", ok=True, says="the warden runs; a daemon was started and ended with its command")


def _spares() -> Finding:
    if unsupported_reason() is not None:
        return Finding("spares", ok=True, says="none: they need the warden")
    try:
        reason = missing_reason(Command(script="true", cwd="/", env=dict(os.environ), timeout=None, grace=0.0))
    except (NacreError, OSError) as error:
        reason = str(error)
    if reason is not None:
        return Finding(
            "spares",
            ok=True,
            says=f"none: {reason}",
            advice="each call starts its own shell: slower, otherwise the same",
        )
    return Finding("spares", ok=True, says="shells can be started before they are needed")


def _state() -> Finding:
    state = config.state_dir(os.environ)
    try:
        free = files(state).call(_free_bytes, state)
    except OSError as error:
        return Finding(
            "state",
            ok=False,
            says=f"{state} cannot be written: {error.strerror}",
            advice="set NACRE_HOME to a directory of yours",
        )
    return Finding("state", ok=True, says=f"{state}, {free // 2**20} MiB free")


def _free_bytes(state: str) -> int:
    """Write to a directory, and return how much room it has."""
    os.makedirs(state, mode=0o700, exist_ok=True)
    with tempfile.TemporaryFile(dir=state):
        return shutil.disk_usage(state).free


def _guard() -> Finding:
    verdict = review("rm -rf /")
    if verdict.rule == "no_dangerous_rm":
        return Finding("guard", ok=True, says="commands are judged before they run")
    return Finding("guard", ok=False, says=verdict.message, advice="install nacre again, with its dependencies")


def _sandbox() -> Finding:
    """Say what commands can be confined with, and test it by an experiment."""
    found = probe(os.environ.get("PATH", os.defpath))
    try:
        mode = config.load(os.environ, cwd=config.working_directory()).settings.sandbox.mode
    except ConfigError:
        mode = "off"
    reasons = "; ".join(found.reasons)
    if found.backend == "none":
        return Finding(
            "sandbox",
            ok=mode != "required",
            says=f"none (sandbox.mode is {mode}): {reasons}",
            advice="install bubblewrap; on Debian: apt-get install bubblewrap",
        )
    lacks = [NEEDS[need] for need in NEEDS if need not in found.enforces]
    says = f"{found.backend} {found.version} (sandbox.mode is {mode})"
    if problem := _escape():
        return Finding("sandbox", ok=mode == "off", says=f"{says}: {problem}")
    if lacks:
        return Finding(
            "sandbox",
            ok=True,
            says=f"{says}; it does not enforce: {'; '.join(lacks)}",
            advice=f"install bubblewrap for all of it: {reasons}",
        )
    advice = None
    if is_outdated(found.version):
        advice = "bubblewrap before 0.12 follows symbolic links while it makes mount points; a newer one does not"
    return Finding("sandbox", ok=True, says=f"{says}; a confined command was refused a write outside", advice=advice)


def _escape() -> str | None:
    """Why a confined command is not confined, if it is not."""
    settings = Settings(sandbox=SandboxSettings(mode="auto", access="read-only"))
    target = os.path.join(tempfile.gettempdir(), f"nacre-doctor-{os.getpid()}")
    try:
        result = run_sync(f": > {target}", timeout=5, cwd="/", settings=settings)
        if os.path.exists(target):
            os.unlink(target)
            return "a confined command could write outside"
        result = run_sync(": > /etc/nacre-doctor 2>/dev/null", timeout=5, cwd="/", settings=settings)
    except NacreError as error:
        return str(error)
    return "a confined command could write to /etc" if result.ok else None


def _secrets() -> Finding:
    """Test by experiment whether a command can read the environment of nacre."""
    become_unreadable()
    try:
        readable = run_sync(f"cat /proc/{os.getpid()}/environ > /dev/null", timeout=5, cwd="/").ok
    except NacreError as error:
        return Finding("secrets", ok=False, says=f"a command could not be run: {error}")
    if readable:
        return Finding(
            "secrets",
            ok=True,
            says="hidden from commands, but not protected: a command can read nacre's own environment in /proc",
            advice="run as an ordinary user, not as root, where secrets must not be readable",
        )
    return Finding("secrets", ok=True, says="hidden from commands, and nacre's own environment is unreadable to them")
