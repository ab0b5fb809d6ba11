"""A command on an overlay of its workspace: runs like every other, and its result lists what it changed there.

Everything outside the workspace is read-only meanwhile, so the guard lets pass what would remove files: nothing is
removed before it is committed.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

from nacre.backends.contained import ContainedBackend
from nacre.command import Overlay
from nacre.daemon_thread import on_thread
from nacre.engine.background import with_state
from nacre.engine.execute import execute
from nacre.engine.own_shell import OWN_SHELL, plan_after_others
from nacre.engine.planner import directory_of
from nacre.engine.run import until_done
from nacre.errors import NacreError, StartError, WorkingDirectoryError
from nacre.jobs.ownership import project_of
from nacre.kept_command import Background
from nacre.planning.plan import Plan
from nacre.profile import Profile
from nacre.request import ShellRequest
from nacre.result import ShellResult, Tried
from nacre.tries.report import counts_of, is_shortened, lines_of, shown_lines, summary_of
from nacre.tries.try_store import END_SECONDS, TryEntry, TryError, TryStore
from nacre.warden.overlay_entry import words_of

if TYPE_CHECKING:
    from nacre.engine.call_origin import CallOrigin
    from nacre.engine.engine import Engine
    from nacre.tries.overlay_changes import PathChange

# How long the overlay may take to be mounted.
MOUNT_SECONDS = 10.0
# How long the look at what was changed may take.
LOOK_SECONDS = 60.0


async def run_try(
    engine: Engine, request: ShellRequest, profile: Profile, origin: CallOrigin
) -> ShellResult | Background:
    """Run a command on an overlay of the project that its directory is in.

    Raises:
        StartError: no overlay can be mounted here; nothing was run.
        DeniedError: it may not run.
    """
    lenient = replace(profile, rules=(*profile.rules, ("no_dangerous_rm", "allow")))
    planned, state = await plan_after_others(engine, request, profile, origin, judged_as=lenient)
    backend = engine.backend_for(profile)
    if not isinstance(backend, ContainedBackend):
        raise _failed(engine, planned, profile, "it needs nacre's warden on this machine")
    root = os.path.realpath(await project_of(directory_of(planned, None)))
    entry = await _mounted(engine, planned, profile, root)
    if engine.confining is not None:
        planned = engine.confining.on_overlay(planned, root)
    command = replace(planned.command, overlay=Overlay(root, entry.directory))
    planned = with_state(planned._replace(command=command), state)
    try:
        result = await execute(
            engine, planned, profile, policy=origin.policy, observers=origin.observers, backend=backend
        )
    except BaseException:
        removing = asyncio.ensure_future(on_thread(entry.remove, LOOK_SECONDS))
        await until_done(removing)
        removing.exception()
        raise
    if origin.session is not None:
        result = replace(result, notices=(*result.notices, OWN_SHELL.format(what="a try")))
    if isinstance(result, Background):
        entry.write(jobId=result.job_id)
        notice = f'{entry.id}: it changes nothing yet; after its end changes {{"id": "{entry.id}"}} lists what it would'
        return replace(result, notices=(*result.notices, notice))
    if refusal := entry.refusal:
        entry.remove()
        raise _failed(engine, planned, profile, refusal)
    return await _told(engine, planned, profile, entry, result)


def _failed(engine: Engine, planned: Plan, profile: Profile, reason: str) -> StartError:
    """Log that nothing was run, and return the error that says why."""
    error = StartError(f"nothing was run: no overlay can be mounted here: {reason}")
    engine.log.add_refusal(profile.contract, planned.logged_command, planned.logged_cwd, error)
    return error


async def _mounted(engine: Engine, planned: Plan, profile: Profile, root: str) -> TryEntry:
    """Make a try whose overlay was mounted once, to see that it can be."""
    store = TryStore(engine.state_dir)

    def prepare() -> TryEntry | str:
        cwd = planned.command.cwd
        if not os.path.isdir(cwd):
            raise WorkingDirectoryError(cwd, "is not a directory" if os.path.exists(cwd) else "does not exist")
        if f"{os.path.realpath(store.root)}/".startswith(f"{root.rstrip('/')}/"):
            return f"the state directory {store.root} is inside {root}"
        store.prune(max_age_seconds=engine.settings.undo.undo_days * 86400)
        entry = store.new(root=root, command=planned.logged_command, cwd=cwd, contract=profile.contract)
        try:
            done = subprocess.run(
                [*words_of([root, entry.directory], cwd), "/bin/sh", "sh", "-c", ":"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=MOUNT_SECONDS,
                check=False,
                env=dict(planned.command.env),
            )
            reason = entry.refusal or done.stderr.decode("utf-8", "replace").strip() if done.returncode else ""
        except (OSError, subprocess.TimeoutExpired) as error:
            reason = str(error)
        if reason:
            entry.remove()
            return reason
        return entry

    try:
        entry = await on_thread(prepare, 2 * MOUNT_SECONDS)
    except TimeoutError:
        entry = "its file system does not answer"
    except NacreError as error:
        engine.log.add_refusal(profile.contract, planned.logged_command, planned.logged_cwd, error)
        raise
    if isinstance(entry, str):
        raise _failed(engine, planned, profile, entry)
    return entry


async def _told(engine: Engine, planned: Plan, profile: Profile, entry: TryEntry, result: ShellResult) -> ShellResult:
    """Return the result with what the command changed."""
    try:
        # What survives the command holds the overlay, and is not waited for.
        patience = END_SECONDS if result.survivors else LOOK_SECONDS / 2
        changes = await on_thread(lambda: entry.changes(patience=patience), LOOK_SECONDS)
    except (TryError, TimeoutError) as error:
        reason = str(error) or "it takes longer than a minute to look"
        notice = f"{entry.id}: what it changes cannot be listed yet: {reason}"
        return replace(result, notices=(*result.notices, notice))
    if not changes:
        entry.remove()
        return replace(result, notices=(*result.notices, "the try has changed nothing in the workspace"))
    counts = counts_of(changes)
    artifact = _keep_list(engine, changes) if is_shortened(changes) else None
    whole = None if artifact is None else f"artifact://{artifact}"
    head = f"{entry.id}: nothing in the workspace is changed yet. The command would change ({summary_of(changes)}):"
    foot = f"`nacre try commit {entry.id} [PATH…]` keeps it, `nacre try discard {entry.id} [PATH…]` drops it"
    if profile.normalises:
        foot = (
            f'To keep it: changes {{"id": "{entry.id}", "commit": true}}; to drop it: "discard": true; a list of paths '
            "in place of true: only those"
        )
    text = planned.redactor.redact_text("\n".join([head, *shown_lines(changes, whole), foot]))
    tried = Tried(id=entry.id, **counts, artifact_id=artifact)
    return replace(result, tried=tried, notices=(*result.notices, text))


def _keep_list(engine: Engine, changes: list[PathChange]) -> int | None:
    """Keep the whole list as an artifact."""
    try:
        writer = engine.artifacts.create("changes")
    except NacreError:
        # `nacre try show` has the list too.
        return None
    writer.write("\n".join([*lines_of(changes), ""]).encode("utf-8", "surrogateescape"))
    kept = writer.close()
    return None if kept is None else kept.id
