"""A Ray cluster of three real nodes: the contract of backends, a thousand commands, killed workers, nodes and maps."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("on_three_nodes.py")


@pytest.mark.parts
@pytest.mark.timeout(400)
def test_a_real_cluster_keeps_the_promises(tmp_path: Path) -> None:
    if importlib.util.find_spec("ray") is None:
        pytest.skip("ray is not installed: pip install 'nacre-shell[ray]'")
    if os.getuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("a network namespace needs root and unshare")
    # Ray's sockets have paths that must be short.
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="nacre-") as scratch:
        seen = _run(tmp_path, scratch)
    (tmp_path / "seen.json").write_text(json.dumps(seen, indent=1), encoding="utf-8")
    assert seen["nodes"] == [True, True, True]
    assert {name: said for name, said in seen["contract"].items() if said != "held"} == {}
    assert (seen["thousand"], seen["cancelled"], seen["pinned"], seen["special"]) == (1000, True, 1, True)
    assert seen["worker"] == {"outcome": "Exited", "text": "on\n", "ran": "x\n"}
    assert seen["sessions"] == {"said": {name: f"5\nf {name}\nalias\n/" for name in ("one", "two")}, "nodes": 2}
    assert seen["sessionOfNode"]["text"] == "kept\n"
    assert seen["sessionOfNode"]["notices"][0].startswith("new shell: the last one is lost (")
    node = seen["node"]
    assert node["there"] >= 40
    assert node["outcomes"] == {"Lost": node["there"], "Exited": 150 - node["there"]}
    assert (node["causes"], node["ranTwice"], node["after"]) == (["infra"], [], "on\n")
    told = seen["map"]
    assert told["told"]["total"] == 2000
    assert (told["ranTwice"], told["neverRan"]) == ([], [])
    assert told["told"]["failed"] == 0


def _run(tmp_path: Path, scratch: str) -> dict[str, Any]:
    words = f'ip link set lo up; exec "{sys.executable}" "{SCRIPT}" "{tmp_path}"'
    done = subprocess.run(
        # With a pid namespace, so that what Ray leaves behind ends with it.
        ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "TMPDIR": scratch, "RAY_TMPDIR": scratch},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return seen
