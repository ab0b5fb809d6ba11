"""Thirty destructive scripts: after undo the tree is as before, and what was changed by hand since is untouched."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path

import pytest

from undo.scripts import SCRIPTS, differences
from undo.tree import make_tree

TESTS = Path(__file__).resolve().parents[1]
PLAIN_USER = 65534


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("template") / "top"
    make_tree(top)
    return top


@pytest.mark.parametrize("script", SCRIPTS, ids=range(len(SCRIPTS)))
async def test_undo_restores_the_tree_and_leaves_what_was_changed_by_hand(
    script: str, template: Path, tmp_path: Path, home: Path
) -> None:
    assert await differences(script, template, tmp_path / "top", home) == []


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_the_same_holds_for_a_plain_user() -> None:
    version = sysconfig.get_python_version()
    python = shutil.which(f"python{version}", path="/usr/bin:/usr/local/bin")
    if python is None:
        pytest.skip(f"no Python {version} that every user may run: the packages of the tests are for that version")
    place = Path(tempfile.mkdtemp(prefix="nacre-undo-", dir="/var/tmp"))
    try:
        os.chown(place, PLAIN_USER, PLAIN_USER)
        path = [str(TESTS.parent / "src"), str(TESTS), sysconfig.get_path("purelib")]
        done = subprocess.run(
            [python, "-m", "undo.scripts", str(place)],
            user=PLAIN_USER,
            group=PLAIN_USER,
            extra_groups=[],
            cwd=place,
            env={**os.environ, "HOME": str(place), "PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        if "PermissionError" in done.stderr or "ModuleNotFoundError" in done.stderr:
            pytest.skip("the checkout, or the packages of the tests, cannot be read by other users")
        assert (done.returncode, json.loads(done.stdout or "null")) == (0, {}), done.stderr
    finally:
        shutil.rmtree(place)
