"""The engine: plan, review, start, supervise, summarise. It knows no contract, only a contract's profile.

Linear: arguments down, return values up. A ShellResult is returned exactly when a process was started; before that,
an exception. Whatever happens after the plan is written to the audit log, once.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from nacre import audit, config
from nacre.artifacts.store import ArtifactStore
from nacre.backends.contained import ContainedBackend
from nacre.backends.direct import DirectBackend
from nacre.backends.wardens import unsupported_reason
from nacre.errors import BackendUnavailableError, DeniedError, NacreError
from nacre.execution.capture import Capture, Nowhere, Passthrough
from nacre.execution.live import LiveTail
from nacre.execution.run import Run
from nacre.execution.summary import notices_of, outcome_of
from nacre.jobs.table import JobTable
from nacre.planning.plan import Plan, plan
from nacre.policy.approval import Approver, approve, is_guarded
from nacre.process import Backend, Ending
from nacre.profile import Background, Profile
from nacre.request import ShellRequest
from nacre.result import Output, ShellResult, TimedOut
from nacre.settings import Settings


class Engine:
    """Runs commands on this machine with one configuration."""

    def __init__(
        self,
        settings: Settings,
        state_dir: Path,
        *,
        environ: Mapping[str, str] | None = None,
        approver: Approver | None = None,
    ) -> None:
        self.settings = settings
        self.state_dir = state_dir
        self.artifacts = ArtifactStore(state_dir / "artifacts")
        self.jobs = JobTable(state_dir)
        self._environ = environ
        self._approver = approver
        self._backends: dict[bool, Backend] = {}

    # Review and plan.

    async def prepare(self, request: ShellRequest, profile: Profile, *, cwd: str) -> Plan:
        """Judge the command as it was written, then decide how it runs; raises before anything is started."""
        environ = os.environ if self._environ is None else self._environ
        planned = plan(request, profile, self.settings, cwd=cwd, environ=environ)
        if is_guarded(profile, self.settings.policy):
            try:
                await approve(request.command, self.settings.policy, planned.command.env, self._approver)
            except DeniedError as error:
                self._log(profile, planned, {"outcome": "denied", "rule": error.rule})
                raise
        return planned

    # Run to the end.

    async def run(
        self,
        request: ShellRequest,
        profile: Profile,
        *,
        cwd: str,
        live: LiveTail | None = None,
        passthrough: Passthrough | None = None,
    ) -> ShellResult:
        planned = await self.prepare(request, profile, cwd=cwd)
        capture = Capture(
            self.artifacts,
            profile,
            self.settings.output,
            redactor=planned.redactor,
            live=live,
            passthrough=passthrough,
        )
        backend = self._backend(profile)
        try:
            return await self._run(backend, planned, profile, capture)
        except BackendUnavailableError as error:
            if self.settings.execution.containment != "auto" or isinstance(backend, DirectBackend):
                raise
            fallback = DirectBackend(str(error), mark=profile.environment != "inherited")
            return await self._run(fallback, planned, profile, capture)
        finally:
            capture.close()

    async def _run(self, backend: Backend, planned: Plan, profile: Profile, capture: Capture) -> ShellResult:
        run = Run.start(backend, planned.command, capture)
        try:
            ending = await run.wait()
            await run.settle()
        except asyncio.CancelledError:
            self._log(profile, planned, {"outcome": "stopped", "durationMs": round(run.elapsed * 1000)})
            raise
        finally:
            run.release()
        return self._summarise(run, ending, planned, profile, capture, backend.notice)

    def _backend(self, profile: Profile) -> Backend:
        """Where the command runs; the mark of the fallback would be seen in an inherited environment."""
        mark = profile.environment != "inherited"
        if mark not in self._backends:
            self._backends[mark] = self._choose_backend(mark=mark)
        return self._backends[mark]

    def _choose_backend(self, *, mark: bool) -> Backend:
        wanted = self.settings.execution.containment
        reason = "switched off by setting" if wanted == "off" else unsupported_reason()
        if reason is None:
            return ContainedBackend()
        if wanted == "required":
            raise BackendUnavailableError(f"containment is required and cannot be had: {reason}")
        return DirectBackend(reason, mark=mark)

    # Summarise.

    def _summarise(
        self,
        run: Run,
        ending: Ending,
        planned: Plan,
        profile: Profile,
        capture: Capture,
        backend_notice: str | None,
    ) -> ShellResult:
        outcome = outcome_of(ending, run.command.timeout)
        keep_all = profile.keep_partial and isinstance(outcome, TimedOut)
        outputs, problems = capture.outputs(keep_all=keep_all)
        notices = [*problems, *notices_of(run, ending), *([backend_notice] if backend_notice else [])]
        result = ShellResult(
            command=run.command.script,
            outcome=outcome,
            output=outputs[0],
            stderr=outputs[1] if len(outputs) > 1 else None,
            cwd=run.command.cwd,
            started_at=run.started_at,
            elapsed=run.elapsed,
            stages=ending.stages,
            survivors=run.survivors,
            notices=tuple(notices),
        )
        problem = self._log(profile, planned, _entry(result))
        return replace(result, notices=(*result.notices, problem)) if problem else result

    def _log(self, profile: Profile, planned: Plan, facts: Mapping[str, Any]) -> str | None:
        entry = {
            "time": time.time(),
            "contract": profile.contract,
            "command": planned.redactor.redact_text(planned.command.script),
            "cwd": planned.command.cwd,
            **facts,
        }
        return audit.append(self.state_dir, entry, cap_bytes=self.settings.log.log_cap_bytes)

    # Keep as a job.

    async def background(self, request: ShellRequest, profile: Profile, *, cwd: str) -> Background:
        """Start the command as a job that outlives this program."""
        planned = await self.prepare(request, profile, cwd=cwd)
        command = planned.command
        settings = self.settings.jobs
        self.jobs.prune(max_age_seconds=settings.job_hours * 3600)
        job_id, directory = self.jobs.allot()
        spec = {
            "directory": str(directory),
            "headBytes": settings.job_head_bytes,
            "capBytes": settings.job_cap_bytes,
            "hidden": [(name, form.decode("latin-1")) for name, form in planned.redactor.to_forms()],
            "record": {
                "id": job_id,
                "command": planned.redactor.redact_text(command.script),
                "cwd": command.cwd,
                "contract": profile.contract,
                "timeout": command.timeout,
                "startedAt": time.time(),
                "completionLine": True,
            },
        }
        try:
            run = Run.start(self._backend(profile), command, Nowhere(), job=spec)
            try:
                pid = await run.announced()
            finally:
                run.release()
        except NacreError:
            self.jobs.discard(directory)
            raise
        problem = self._log(profile, planned, {"outcome": "background", "jobId": job_id, "pid": pid})
        output_file = str(directory / "output")
        return Background(job_id=job_id, pid=pid, output_file=output_file, notices=(problem,) if problem else ())


def _entry(result: ShellResult) -> dict[str, Any]:
    """The facts of a result for the log: sizes, never content."""

    def size(output: Output | None) -> int | None:
        return None if output is None else output.total_bytes

    entry: dict[str, Any] = {
        "outcome": type(result.outcome).__name__.lower(),
        "exitCode": result.exit_code,
        "durationMs": round(result.elapsed * 1000, 3),
        "stdoutBytes": size(result.output),
        "stderrBytes": size(result.stderr),
    }
    if result.survivors:
        entry["survivors"] = [{"pid": one.pid, "argv": list(one.argv)} for one in result.survivors]
    if result.notices:
        entry["notices"] = list(result.notices)
    artifacts = [output.artifact.id for output in (result.output, result.stderr) if output and output.artifact]
    if artifacts:
        entry["artifacts"] = artifacts
    return entry


# Building an engine reads files; a program makes thousands of calls with the same few configurations.
_ENGINES: dict[tuple[object, ...], Engine] = {}
_MOST_ENGINES = 64


def from_environment(
    *, cwd: str | None = None, settings: Settings | None = None, approver: Approver | None = None
) -> Engine:
    """The engine that this process's environment and files describe, as they are now."""
    directory = cwd or os.getcwd()
    key = (settings, approver, *config.fingerprint(os.environ, cwd=directory))
    engine = _ENGINES.get(key)
    if engine is None:
        loaded = config.load(os.environ, cwd=directory)
        if len(_ENGINES) >= _MOST_ENGINES:
            _ENGINES.clear()
        engine = _ENGINES[key] = Engine(settings or loaded.settings, loaded.state_dir, approver=approver)
    return engine
