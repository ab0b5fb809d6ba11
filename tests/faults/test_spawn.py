"""Faults of the start, cases 21-28 and 30: a failure is a clear error, and the host's state stays out of the child."""

from __future__ import annotations

import json
import os
import resource
import signal
import stat
from pathlib import Path

import pytest
from outside import PLAIN_USER, Program, with_argument

from nacre import Exited, StartError, TimedOut, run
from nacre.backend import Backend
from nacre.backends.contained import ContainedBackend
from nacre.backends.direct import DirectBackend
from nacre.command import Command
from nacre.engine.capture import Nowhere
from nacre.engine.run import Run
from nacre.settings import ExecutionSettings, Settings

BACKENDS = {"contained": ContainedBackend, "direct": DirectBackend}
CONTAINMENTS = ["required", "off"]


def contained(wanted: str) -> Settings:
    return Settings(execution=ExecutionSettings(containment=wanted))  # type: ignore[arg-type]


async def start_with_shell(backend: Backend, shell: Path, tmp_path: Path) -> None:
    command = Command(
        script=f"touch {tmp_path}/started", cwd="/", env=dict(os.environ), timeout=20, grace=1, shell=str(shell)
    )
    running = Run.start(backend, command, Nowhere())
    try:
        await running.wait()
    finally:
        running.release()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["missing", "not executable", "not a program", "a directory"])
async def test_case_21_shell_that_cannot_start_is_named(backend: str, kind: str, tmp_path: Path) -> None:
    shell = tmp_path / "bash"
    if kind == "a directory":
        shell.mkdir()
    elif kind != "missing":
        shell.write_bytes(b"nothing that runs")
        shell.chmod(0o755 if kind == "not a program" else 0o644)
    with pytest.raises(StartError, match=f"cannot start the shell {shell}: ") as caught:
        await start_with_shell(BACKENDS[backend](), shell, tmp_path)
    assert caught.value.errno is not None
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("kind", ["missing", "not executable", "not a program", "a directory"])
async def test_case_21_in_a_host_that_ignores_a_signal(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    request.addfinalizer(lambda: signal.signal(signal.SIGUSR1, before))
    await test_case_21_shell_that_cannot_start_is_named("direct", kind, tmp_path)


# A host that counts its descriptors around calls which cannot start.
COUNTING_HOST = """
import asyncio, json, os, resource, sys
import nacre
from nacre.warden import children

def descriptors():
    # The audit log stays open from the first call on, also from one that failed.
    names = [(name, os.readlink(f"/proc/self/fd/{name}")) for name in os.listdir("/proc/self/fd") if probe(name)]
    return sorted(name for name, target in names if not target.endswith("/log.jsonl"))

def probe(name):
    return os.path.lexists(f"/proc/self/fd/{name}")

def say(**facts):
    print(json.dumps(facts), flush=True)

async def attempt(command="echo hi", **options):
    try:
        result = await nacre.run(command, **options)
    except nacre.NacreError as error:
        return type(error).__name__, str(error)
    return type(result.outcome).__name__, result.text
"""

NO_PROCESSES_AT_ALL = f"""{COUNTING_HOST}
async def main():
    await asyncio.sleep(0)
    limits = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, limits[1]))
    before = descriptors()
    failed = await attempt()
    after = descriptors()
    resource.setrlimit(resource.RLIMIT_NPROC, limits)
    say(failed=failed, leaked=len(after) - len(before), then=await attempt())

asyncio.run(main())
"""

# The limit strikes the far side: the runner cannot start a shell, or the zygote no further runner.
NO_PROCESSES_BEYOND = f"""{COUNTING_HOST}
async def main():
    await attempt()
    runner = int((await attempt("echo $PPID"))[1])
    zygote = int(children.stat_fields(runner)[1])
    limits = resource.getrlimit(resource.RLIMIT_NPROC)
    before = descriptors()
    resource.prlimit(runner, resource.RLIMIT_NPROC, (0, limits[1]))
    no_shell = await attempt()
    resource.prlimit(runner, resource.RLIMIT_NPROC, limits)
    freed = await attempt()
    resource.prlimit(zygote, resource.RLIMIT_NPROC, (0, limits[1]))
    # Two at once need two runners; there is one.
    busy = asyncio.create_task(attempt("read line <>FIFO; echo $line"))
    # Its first turn gives others theirs, its second starts the command.
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    no_runner = await attempt()
    with open("FIFO", "w") as file:
        file.write("went\\n")
    busy = await busy
    leaked = len(descriptors()) - len(before)
    resource.prlimit(zygote, resource.RLIMIT_NPROC, limits)
    say(no_shell=no_shell, freed=freed, no_runner=no_runner, busy=busy, leaked=leaked,
        then=await asyncio.gather(attempt(), attempt()))

asyncio.run(main())
"""


def test_case_22_no_process_to_be_had_is_a_start_error_without_leaks(plain_home: Path) -> None:
    program = Program(NO_PROCESSES_AT_ALL, user=PLAIN_USER, env={"NACRE_HOME": str(plain_home)}, cwd="/")
    facts = json.loads(program.succeed())
    assert facts["failed"][0] == "StartError"
    assert "the limit on processes is reached" in facts["failed"][1]
    assert facts["leaked"] <= 1, "the loop's own watch on descriptors stays"
    assert facts["then"] == ["Exited", "hi\n"]


def test_case_22_far_side_without_processes_is_a_start_error_too(plain_home: Path) -> None:
    fifo = plain_home / "fifo"
    os.mkfifo(fifo)
    os.chown(fifo, PLAIN_USER, PLAIN_USER)
    code = NO_PROCESSES_BEYOND.replace("FIFO", str(fifo))
    # A shell that was started in advance would serve where none can be started any more.
    env = {"NACRE_HOME": str(plain_home), "NACRE_SPARES": "0"}
    facts = json.loads(Program(code, user=PLAIN_USER, env=env, cwd="/").succeed())
    for failed in (facts["no_shell"], facts["no_runner"]):
        assert failed[0] == "StartError"
        assert "the limit on processes is reached" in failed[1]
    assert facts["freed"] == ["Exited", "hi\n"]
    assert facts["busy"] == ["Exited", "went\n"]
    assert facts["leaked"] <= 1, "an idle runner may be kept"
    assert facts["then"] == [["Exited", "hi\n"]] * 2


# Every number of free descriptors from none to enough, so that each step of the start fails once.
FEW_DESCRIPTORS = f"""{COUNTING_HOST}
async def main():
    warm = sys.argv[1] == "warm"
    await asyncio.sleep(0)
    await attempt() if warm else None
    import nacre.engine.engine, nacre.api, nacre.setting_sources  # what a later import opens is no question here
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    seen = []
    highest = max(map(int, descriptors()))
    for free in range(0, 24):
        if not warm:
            from nacre.warden_client.pool import warden
            warden.close()
        before = descriptors()
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(before) - 1 + free, limits[1]))
        outcome = await attempt()
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        after = descriptors()
        seen.append((free, outcome, len(after) - len(before)))
    say(seen=seen, then=await attempt())

asyncio.run(main())
"""


@pytest.mark.parametrize("state", ["warm", "cold"])
def test_case_23_without_descriptors_each_step_fails_cleanly(state: str) -> None:
    # Spares are held on purpose, and would be counted as leaks here.
    facts = json.loads(Program(FEW_DESCRIPTORS, state, env={"NACRE_SPARES": "0"}).succeed())
    kinds = {outcome[0] for _, outcome, _ in facts["seen"]}
    assert kinds <= {"StartError", "BackendUnavailableError", "Exited"}, facts["seen"]
    assert "Exited" in kinds
    assert "StartError" in kinds
    for free, (kind, words), leaked in facts["seen"]:
        assert kind != "Exited" or words.startswith("hi\n"), (free, words)
        assert "Traceback" not in words
        # The first success starts what later calls use again: control socket and an idle runner's.
        assert leaked <= (3 if kind == "Exited" else 1), (free, kind, words, leaked)
    assert facts["then"] == ["Exited", "hi\n"]


LARGE_HOST = """
import mmap
import nacre
ballast = mmap.mmap(-1, 2 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
print(nacre.run_sync("grep VmSize /proc/$PPID/status").text, flush=True)
"""


def test_case_24_shell_of_a_large_host_is_forked_from_a_small_process() -> None:
    _, kilobytes, _ = Program(LARGE_HOST).succeed().split()
    assert int(kilobytes) < 256 * 1024


LOCKED_HOST = """
import logging, threading, sys
import nacre
held = threading.Event()
done = threading.Event()

def hold():
    logging._lock.acquire()
    threading.main_thread()
    import _imp
    _imp.acquire_lock()
    held.set()
    done.wait()
    _imp.release_lock()
    logging._lock.release()

import nacre.api, nacre.engine.engine
nacre.run_sync("true") if sys.argv[1] == "warm" else None
thread = threading.Thread(target=hold)
thread.start()
held.wait()
box = []
caller = threading.Thread(target=lambda: box.append(nacre.run_sync("echo alive").text))
caller.start()
caller.join(15)
print(box, flush=True)
done.set()
"""


def test_case_25_locks_held_by_other_threads_do_not_reach_the_child() -> None:
    assert Program(LOCKED_HOST, "warm").succeed() == "['alive\\n']\n"


HOST_WITH_DESCRIPTORS = """
import os, socket, sys, tempfile
import nacre
from nacre.settings import ExecutionSettings, Settings
ours = [socket.socketpair(), open(sys.argv[2], "w"), os.pipe()]
for fd in range(3, 256):
    try:
        os.set_inheritable(fd, True)
    except OSError:
        continue
for fd in (9, 63, 100, 101, 150, 255):
    os.dup2(ours[1].fileno(), fd, inheritable=True)
for _ in range(int(sys.argv[3])):
    os.set_inheritable(os.dup(ours[1].fileno()), True)
settings = Settings(execution=ExecutionSettings(containment=sys.argv[1]))
for script in ("ls -l /proc/self/fd", "ls -l /proc/self/fd | cat", ": " + "x" * 140000 + "\\nls -l /proc/self/fd"):
    result = nacre.run_sync(script, settings=settings)
    print("==", result.outcome, flush=True)
    print(result.text, flush=True)
"""


@pytest.mark.parametrize("more", [0, 300])
@pytest.mark.parametrize("containment", CONTAINMENTS)
def test_case_26_no_descriptor_of_the_host_is_inherited(containment: str, more: int, tmp_path: Path) -> None:
    out = Program(HOST_WITH_DESCRIPTORS, containment, str(tmp_path / "host-file"), str(more)).succeed()
    plain, piped, long = out.split("==")[1:]
    for shown in (plain, piped, long):
        assert "code=0" in shown
        assert "socket:" not in shown
        assert "host-file" not in shown
    numbers = [line.split(" -> ")[0].split()[-1] for line in plain.splitlines() if " -> " in line]
    assert numbers == ["0", "1", "2", "3"], "besides its own, ls may see only the listing that it reads"


DEAF_HOST = """
import signal, sys
import nacre
from nacre.settings import ExecutionSettings, Settings
for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGUSR1,
               signal.SIGXFSZ, signal.SIGRTMIN + 1):
    signal.signal(number, signal.SIG_IGN)
if sys.argv[1] != "off":
    # Whoever ignores this one gives up the statuses of its own children, and so of the fallback's.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if sys.argv[2] == "masked":
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP})
settings = Settings(execution=ExecutionSettings(containment=sys.argv[1]))
print(nacre.run_sync("grep -E 'Sig(Blk|Ign)' /proc/self/status", settings=settings).text, flush=True)
result = nacre.run_sync("trap 'echo caught; exit 5' INT; kill -INT $$; echo deaf; yes | head -1", settings=settings)
print(result.text, result.outcome, result.stages, flush=True)
result = nacre.run_sync("yes | head -1", settings=settings)
print(result.text, result.outcome, result.stages, flush=True)
result = nacre.run_sync("sleep 50", settings=settings, timeout=0.2)
print(result.outcome, flush=True)
# Long enough that only the child's end can tell the runner of it.
print(nacre.run_sync("sleep 0.2; echo late", settings=settings).text, flush=True)
"""
# glibc's posix_spawn ignores the two signals that it keeps for its own threads.
GLIBC_SIGNALS = 0x1_8000_0000


@pytest.mark.parametrize(("containment", "mask"), [("required", "masked"), ("required", "open"), ("off", "open")])
def test_case_27_signals_ignored_or_blocked_by_the_host_are_default_in_the_child(containment: str, mask: str) -> None:
    out = Program(DEAF_HOST, containment, mask).succeed()
    states = dict(line.split() for line in out.splitlines() if line.startswith("Sig"))
    assert int(states["SigBlk:"], 16) == 0
    assert int(states["SigIgn:"], 16) & ~GLIBC_SIGNALS == 0
    assert "caught\n Exited(code=5)" in out
    assert "y\n Exited(code=0) (141, 0)" in out
    assert "TimedOut(limit=0.2, ended_by='SIGTERM')" in out
    assert "late" in out


HEIR_HOST = """
import os, resource, sys
import nacre
os.umask(0o027)
os.nice(5)
resource.setrlimit(resource.RLIMIT_NOFILE, (512, 512))
resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
with open("/proc/self/oom_score_adj", "w") as file:
    file.write("500")
print(nacre.run_sync("umask; nice; ulimit -n; cat /proc/self/oom_score_adj; ulimit -S -c").text, end="", flush=True)
"""


@pytest.mark.skipif(
    resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY and os.geteuid() != 0,
    reason="core dumps are forbidden here by a hard limit that only root may raise",
)
def test_case_28_limits_are_inherited_and_core_dumps_are_off() -> None:
    niceness = str(min(19, os.nice(0) + 5))
    assert Program(HEIR_HOST).succeed().split() == ["0027", niceness, "512", "500", "0"]


@pytest.mark.parametrize("how", ["setsid -w", "setsid", "env -i /usr/bin/setsid", "exec setsid -w"])
async def test_case_30_child_in_a_session_of_its_own_is_ended_too(
    how: str, sleeper: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NACRE_GRACE_SECONDS", "0.1")
    script = f"trap '' TERM; {how} /bin/sleep {sleeper} & echo up; sleep {sleeper}"
    result = await run(script, timeout=2)
    assert result.outcome == TimedOut(2, "SIGKILL")
    assert result.text == "up\n"
    assert with_argument(sleeper) == []


async def test_case_30_child_in_a_group_of_its_own_is_ended_too(sleeper: str) -> None:
    result = await run(f"set -m; sleep {sleeper} & sleep {sleeper} & echo up; wait", timeout=0.5)
    assert isinstance(result.outcome, TimedOut)
    assert with_argument(sleeper) == []


async def test_case_21_exit_127_of_a_command_is_a_result_not_an_error(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/nonexistent/interpreter\n", encoding="ascii")
    script.chmod(stat.S_IRWXU)
    assert (await run("no-such-command-anywhere")).outcome == Exited(127)
    assert (await run(str(script))).outcome in (Exited(126), Exited(127))


# A program that its user may run but not read has memory that nobody may write: there are no spares then.
UNREADABLE_SHELL = """
import asyncio, json, os, sys
from nacre.backends.contained import ContainedBackend
from nacre.backends.spare_shells import missing_reason, spares
from nacre.command import Command
from nacre.engine.run import Run
from nacre.testing.backend_contract import Collected

command = Command(script="echo hi", cwd="/", env=dict(os.environ), timeout=20, grace=1, shell=sys.argv[1])

async def once(backend):
    sink = Collected()
    run = Run.start(backend, command, sink)
    try:
        return (await run.wait()).code, sink.streams[1].decode()
    finally:
        run.release()

async def main():
    backend = ContainedBackend(spares=1)
    return [await once(backend) for _ in range(4)]

print(json.dumps([missing_reason(command), asyncio.run(main()), spares.ready(command)]))
"""


def test_where_no_shell_can_be_started_in_advance_calls_start_their_own(plain_home: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a program that another user may run but not read")
    shell = plain_home / "bash"
    shell.write_bytes(Path("/bin/bash").read_bytes())
    os.chown(shell, 0, 0)
    shell.chmod(0o711)
    env = {"NACRE_HOME": str(plain_home), "HOME": str(plain_home)}
    reason, results, ready = json.loads(
        Program(UNREADABLE_SHELL, str(shell), user=PLAIN_USER, env=env, cwd="/").succeed()
    )
    assert "Permission denied" in reason
    assert (results, ready) == ([[0, "hi\n"]] * 4, 0)
