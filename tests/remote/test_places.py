"""How a place is named, and that the words for well-known programs lead into another namespace."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import nacre
from nacre.remote.places import dialer_named
from nacre.remote.remote_backend import connect

NAMESPACES = ("--mount", "--uts", "--ipc")
needs_namespaces = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("nsenter") is None, reason="needs root and nsenter"
)
# What each program must be called with; then it enters the box.
PROGRAMS = {
    "docker:box": ("docker", "exec -i box"),
    "podman:box": ("podman", "exec -i box"),
    "kubectl:box": ("kubectl", "exec -i box --"),
    "kubectl:team/box:app": ("kubectl", "exec -i --namespace team box --container app --"),
    "prefix:srun -N1": ("srun", "-N1"),
}


@pytest.fixture
def box() -> Iterator[int]:
    """A process in namespaces of its own, where the machine has another name."""
    text = "echo the-box >/proc/sys/kernel/hostname && echo up && exec sleep 1000"
    with subprocess.Popen(["unshare", *NAMESPACES, "sh", "-c", text], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            if process.stdout.readline() != b"up\n":
                pytest.skip("no namespaces can be made here")
            yield process.pid
        finally:
            process.kill()


def test_the_words_for_well_known_places() -> None:
    words = {
        "docker:web-1": ("docker", "exec", "-i", "web-1"),
        "podman:web-1": ("podman", "exec", "-i", "web-1"),
        "kubectl:pod-7": ("kubectl", "exec", "-i", "pod-7", "--"),
        "kubectl:team/pod-7:app": ("kubectl", "exec", "-i", "--namespace", "team", "pod-7", "--container", "app", "--"),
        "prefix:nsenter -t 1 -a": ("nsenter", "-t", "1", "-a"),
    }
    assert {name: dialer_named(name).prefix for name in words} == words  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["docker:", "there", "ssh://", "ssh://host:port", "ssh://host/path", "rsh:host"])
def test_a_name_that_is_no_place_is_refused_with_the_forms(name: str) -> None:
    with pytest.raises(nacre.ConfigError, match="--on"):
        dialer_named(name)


@needs_namespaces
@pytest.mark.parametrize("place_name", PROGRAMS)
async def test_well_known_programs_lead_into_the_box(
    place_name: str, box: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in checks its words, takes them away, and enters the namespaces of the box."""
    program, words = PROGRAMS[place_name]
    checks = "".join(f'[ "$1" = {word} ] || exit 9; shift; ' for word in words.split())
    stand_in = tmp_path / program
    stand_in.write_text(
        f'#!/bin/sh\n{checks}exec nsenter --target {box} {" ".join(NAMESPACES)} "$@"\n', encoding="utf-8"
    )
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    async with await connect(place_name) as place:
        assert place.place["host"] == "the-box"
        assert (await nacre.run("uname -n", backend=place)).text == "the-box\n"


@needs_namespaces
async def test_nsenter_itself_leads_into_the_box(box: int) -> None:
    async with await connect(f"prefix:nsenter -t {box} {' '.join(NAMESPACES)}") as place:
        assert (await nacre.run("uname -n", backend=place)).text == "the-box\n"
