"""Hosts that fork with threads alive, or close every descriptor: no hang, no EBADF, nothing of ours in their files.

Every host is a program of its own, so that what its forks do is seen from outside.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from outside import Program

FORKS = 30

# Threads run commands all the time, so that a fork finds their locks taken and their requests half made.
COMMON = """
import asyncio, gc, json, os, select, signal, sys, threading, time
import nacre

FORKS = int(sys.argv[1])
# A child that hangs is told by its alarm, which its host reports.
ALARM_SECONDS = 60

def reported(children):
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]

def child(work):
    pid = os.fork()
    if pid:
        return pid
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(ALARM_SECONDS)
    code = 70
    try:
        code = work()
    except BaseException:
        import traceback
        traceback.print_exc()
    finally:
        os._exit(code)
"""

THREADED = (
    COMMON
    + """
going = threading.Event()
going.set()
problems, calls = [], [0] * 4

def hammer(number):
    while going.is_set():
        result = nacre.run_sync(f"echo {number}; seq 20000" if number == 0 else f"echo {number}", timeout=30)
        if result.exit_code != 0 or not result.text.startswith(f"{number}\\n") or result.notices:
            problems.append((number, repr(result.outcome), result.text[:50], result.notices))
        calls[number] += 1

def session(problems):
    async def turns():
        async with nacre.Tool("workspace") as tool:
            await tool.call({"command": "count=0"})
            seen = 0
            while going.is_set():
                reply = await tool.call({"command": "count=$((count + 1)); echo $count"})
                seen += 1
                if reply.is_error or not reply.text.startswith(f"{seen}\\n") or reply.details.get("notices"):
                    problems.append(("session", reply.text))
            return seen
    calls.append(asyncio.run(turns()))

threads = [threading.Thread(target=hammer, args=(number,)) for number in range(4)]
threads.append(threading.Thread(target=session, args=(problems,)))
for thread in threads:
    thread.start()
while not all(calls[:4]):
    time.sleep(0.001)

def work():
    result = nacre.run_sync("echo child; exit 6", timeout=30)
    return 0 if (result.text, result.exit_code, result.notices) == ("child\\n", 6, ()) else 71

codes = []
for number in range(FORKS):
    # From another thread than the one that runs commands, and from a thread of its own.
    box = []
    forking = threading.Thread(target=lambda: box.append(child(work)))
    forking.start()
    forking.join()
    codes += reported(box)
going.clear()
for thread in threads:
    thread.join()
print(json.dumps({"codes": codes, "problems": problems, "session": calls[4] > 0}))
"""
)


def test_fork_with_threads_alive_never_hangs_and_disturbs_no_command_of_the_parent(tmp_path: Path) -> None:
    program = Program(THREADED, str(FORKS))
    facts = json.loads(program.succeed())
    assert facts["codes"] == [0] * FORKS
    assert facts["problems"] == []
    assert facts["session"]


DAEMON = (
    COMMON
    + """
how, file = sys.argv[2:]

async def used():
    tool = nacre.Tool("workspace")
    await tool.call({"command": "cd /; here=kept"})
    # With this call the state of the shell is known outside of it.
    await tool.call({"command": "true"})
    for _ in range(3):
        await nacre.run("echo used")
    return tool

tool = asyncio.run(used())

def fork():
    if how == "closes":
        return 0
    if how == "forks":
        return os.fork()
    import ctypes
    # A fork that Python knows nothing of.
    return ctypes.CDLL(None).fork()

def work():
    if os.getppid() and how != "closes" and fork():
        os.wait()
        return 0
    os.closerange(3, 4096)
    # The host's own files take the numbers that were ours.
    mine = [os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND) for _ in range(64)]
    known = [os.fstat(fd) for fd in mine]
    # Sockets too: a message of ours would be read at the other end.
    import socket
    pairs = [socket.socketpair() for _ in range(32)]
    results = [nacre.run_sync("echo daemon; exit 3", timeout=30) for _ in range(4)]
    if [(one.text, one.exit_code, one.notices) for one in results] != [("daemon\\n", 3, ())] * 4:
        print(results, file=sys.stderr)
        return 72
    reply = asyncio.run(tool.call({"command": "echo $here $PWD"}))
    if not reply.text.startswith("kept /\\n") or reply.is_error:
        print(reply, file=sys.stderr)
        return 73
    asyncio.run(tool.aclose())
    gc.collect()
    for fd, state in zip(mine, known):
        if not os.path.samestat(os.fstat(fd), state):
            return 74
    if os.path.getsize(file):
        return 75
    for near, far in pairs:
        near.setblocking(False)
        far.setblocking(False)
        for end in (near, far):
            try:
                print(end.recv(65536), file=sys.stderr)
                return 76
            except BlockingIOError:
                pass
    return 0

codes = reported([child(work)])
print(json.dumps({"codes": codes, "text": nacre.run_sync("echo parent").text}))
"""
)


@pytest.mark.parametrize("how", ["closes", "forks", "forks without python"])
def test_daemon_that_closed_all_descriptors_uses_nacre_and_finds_nothing_in_its_own_files(
    how: str, tmp_path: Path
) -> None:
    facts = json.loads(Program(DAEMON, "1", how, str(tmp_path / "hosts-own")).succeed())
    assert facts == {"codes": [0], "text": "parent\n"}


SAME_PROCESS = (
    COMMON
    + """
file = sys.argv[2]

async def used():
    tool = nacre.Tool("workspace")
    await tool.call({"command": "cd /; here=kept"})
    # With this call the state of the shell is known outside of it.
    await tool.call({"command": "true"})
    for _ in range(3):
        await nacre.run("echo used")
    return tool

tool = asyncio.run(used())
gc.collect()
os.closerange(3, 4096)
mine = [os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND) for _ in range(64)]
states = [os.fstat(fd) for fd in mine]
texts = [nacre.run_sync("echo again", timeout=30).text for _ in range(4)]
reply = asyncio.run(tool.call({"command": "echo $here $PWD"}))
gc.collect()
print(json.dumps({
    "texts": texts,
    "session": reply.text,
    "files": all(os.path.samestat(os.fstat(fd), state) for fd, state in zip(mine, states)),
    "written": os.path.getsize(file),
}))
"""
)


def test_host_that_closes_all_descriptors_without_a_fork_keeps_its_files_and_its_sessions(tmp_path: Path) -> None:
    facts = json.loads(Program(SAME_PROCESS, "1", str(tmp_path / "hosts-own")).succeed())
    assert facts["texts"] == ["again\n"] * 4
    assert facts["session"].startswith("kept /\n")
    assert "new shell: the last one was cut off by the program" in facts["session"]
    assert (facts["files"], facts["written"]) == (True, 0)


MULTIPROCESSING = """
import json, multiprocessing, sys, threading
import nacre

def work(number):
    return nacre.run_sync(f"echo {number}", timeout=30).text

if __name__ == "__main__":
    going = threading.Event()
    going.set()

    def hammer():
        while going.is_set():
            nacre.run_sync("true")

    thread = threading.Thread(target=hammer)
    thread.start()
    with multiprocessing.get_context("fork").Pool(4) as pool:
        texts = pool.map_async(work, range(40), chunksize=1).get(120)
    going.clear()
    thread.join()
    print(json.dumps(texts))
"""


def test_pool_of_forked_workers_runs_commands_while_the_parent_does() -> None:
    assert json.loads(Program(MULTIPROCESSING).succeed()) == [f"{number}\n" for number in range(40)]


INHERITED = (
    COMMON
    + """
# A session and a command of the direct backend run while the host forks, and their coroutines end in the child too.
from nacre.settings import ExecutionSettings, Settings

direct = Settings(execution=ExecutionSettings(containment="off"))
path = sys.argv[2]

async def main():
    tool = nacre.Tool("workspace")
    tasks = [
        asyncio.create_task(nacre.run(f"seq 60000; read line <{path}.0; echo $line", settings=direct)),
        asyncio.create_task(nacre.run(f"seq 60000; read line <{path}.1; echo $line")),
        asyncio.create_task(tool.call({"command": f"touch {path}.up; read line <{path}.2; echo $line"})),
    ]
    while not os.path.exists(path + ".up"):
        await asyncio.sleep(0.005)
    pids = []
    for _ in range(FORKS):
        def work():
            for task in tasks:
                # What a loop that is thrown away does to its coroutines.
                task.get_coro().close()
            inside = asyncio.run(tool.call({"command": "echo inside"}))
            text = nacre.run_sync("echo child", settings=direct).text
            ok = text == "child\\n" and inside.text.startswith("inside\\n") and not inside.is_error
            print(text, inside.text, file=sys.stderr) if not ok else None
            return 0 if ok else 77
        pids += [child(work)]
    codes = reported(pids)
    # For both, and open to the end: opening for writing waits for a reader, which may wait for this loop to read on.
    gates = [os.open(f"{path}.{number}", os.O_RDWR) for number in range(3)]
    for gate in gates:
        os.write(gate, b"went\\n")
    done = await asyncio.gather(*tasks)
    print(json.dumps({
        "codes": codes,
        "texts": [one.text.splitlines()[-1] for one in done[:2]] + [done[2].text.splitlines()[0]],
        "whole": [one.output.artifact is not None and os.path.getsize(one.output.artifact.path) for one in done[:2]],
        "after": (await tool.call({"command": "echo after"})).text,
    }))
    await tool.aclose()

asyncio.run(main())
"""
)


def test_fork_neither_ends_the_parents_commands_nor_removes_their_artifacts(tmp_path: Path) -> None:
    for number in range(3):
        os.mkfifo(tmp_path / f"go.{number}")
    facts = json.loads(Program(INHERITED, "5", str(tmp_path / "go")).succeed())
    size = sum(len(f"{number}\n") for number in range(1, 60001)) + len("went\n")
    assert facts["codes"] == [0] * 5
    assert facts["texts"] == ["went", "went", "went"]
    assert facts["whole"] == [size, size]
    assert facts["after"].startswith("after\n")
    assert "new shell" not in facts["after"]


INSIDE_A_LOOP = (
    COMMON
    + """
import multiprocessing
how = sys.argv[2]

def in_the_child(tool, session):
    async def work():
        # The tool and the session of the parent, too: their shells stay the parent's.
        texts = [(await nacre.run("echo run")).text]
        texts.append((await tool.call({"command": "echo $x $PWD"})).text.partition("\\n")[0])
        texts.append((await session.run("echo $y")).text)
        async with nacre.Tool("modes") as fresh:
            texts.append((await fresh.call({"command": "echo fresh"})).text)
        await tool.aclose()
        await session.aclose()
        return texts
    if how == "closes its loop":
        loop._selector.close()
    texts = [nacre.run_sync("echo sync", timeout=30).text, *asyncio.run(work())]
    expected = ["sync\\n", "run\\n", "kept /", "kept\\n", "fresh\\n"]
    print(texts, file=sys.stderr) if texts != expected else None
    return 0 if texts == expected else 78

async def forked_and_awaited(tool, session):
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        signal.alarm(ALARM_SECONDS)
        reply = await tool.call({"command": "echo reached"})
        try:
            await nacre.run("echo reached")
        except nacre.NacreError as error:
            named = str(error)
        code = 0 if reply.is_error and reply.text == named and "nacre.run_sync" in named else 79
    finally:
        os._exit(code)

async def main():
    global loop
    loop = asyncio.get_running_loop()
    async with nacre.Tool("workspace") as tool, nacre.Session() as session:
        for _ in range(2):
            await tool.call({"command": "cd /; x=kept"})
            await session.run("y=kept")
            await nacre.run("true")
        gate = sys.argv[3]
        tasks = [
            asyncio.create_task(nacre.run(f"echo >>{gate}.up; read line <{gate}.0; echo $line")),
            asyncio.create_task(tool.call({"command": f"echo >>{gate}.up; read line <{gate}.1; echo $line"})),
        ]
        while not os.path.exists(gate + ".up") or os.path.getsize(gate + ".up") < 2:
            await asyncio.sleep(0.005)
        if how == "multiprocessing":
            process = multiprocessing.get_context("fork").Process(
                target=lambda: os._exit(in_the_child(tool, session))
            )
            process.start()
            process.join()
            codes = [process.exitcode]
        elif how == "awaits":
            codes = reported([await forked_and_awaited(tool, session)])
        else:
            codes = reported([child(lambda: in_the_child(tool, session))])
        gates = [os.open(f"{gate}.{number}", os.O_RDWR) for number in range(2)]
        for one in gates:
            os.write(one, b"went\\n")
        done = await asyncio.gather(*tasks)
        texts = [one.text.partition("\\n")[0] for one in done]
        texts.append((await tool.call({"command": "echo $x"})).text)
        texts.append((await session.run("echo $y")).text)
    print(json.dumps({"codes": codes, "texts": texts}))

asyncio.run(main())
"""
)


@pytest.mark.parametrize("how", ["forks", "closes its loop", "multiprocessing", "awaits"])
def test_child_of_a_running_loop_uses_nacre_and_leaves_the_parents_commands_alone(how: str, tmp_path: Path) -> None:
    """`awaits` goes on in the coroutine of the parent, where asyncio has no loop: the error says what to call."""
    for number in range(2):
        os.mkfifo(tmp_path / f"gate.{number}")
    facts = json.loads(Program(INSIDE_A_LOOP, "1", how, str(tmp_path / "gate")).succeed())
    assert facts["codes"] == [0]
    assert facts["texts"][:2] == ["went", "went"]
    assert facts["texts"][2].startswith("kept\n")
    assert "new shell" not in facts["texts"][2]
    assert facts["texts"][3] == "kept\n"
