"""Thirty destructive scripts: after undo the tree is as before, and what was changed by hand since is untouched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import nacre
from nacre.settings import PolicySettings, Settings, UndoSettings
from nacre.undo.restoring import plan, restore
from nacre.undo.undo_store import UndoStore
from undo.tree import HAND, copy_tree, look, make_tree

SCRIPTS = [
    "rm todo src/a.py",
    "rm -rf src",
    "rm -rf *",
    "rm -rf -- src/sub 'src/with space' src/ünï cache notes",
    "rm -rf .git",
    "cd src && rm *.py && cd .. && rm -r cache",
    'for f in src/a.py todo build.log; do rm "$f"; done',
    "find . -name '*.py' -delete",
    "find notes cache -type f -exec rm -f {} +",
    "ls src | sed 's|^|src/|' | xargs rm -rf",
    "mv src/a.py src/b.py",
    "mv todo notes/; mv notes renamed",
    "echo gone > src/a.py; : > todo; echo x >| build.log",
    "cat /dev/null > link",
    "sed -i s/one/two/ src/a.py src/b.py 'src/with space'",
    "perl -pi -e 's/one/three/' src/*.py",
    "truncate -s 3 src/a.py cache/x/y.bin",
    "cp src/b.py src/a.py; cp -r nested/. notes",
    "echo t | tee todo src/b.py > build.log",
    "dd if=/dev/zero of=src/a.py bs=10 count=1 2>/dev/null; dd if=/dev/zero of=todo bs=1 count=1 conv=notrunc",
    "git reset --hard",
    "git reset --hard other && git branch -D other",
    "git checkout -f other",
    "git checkout -- . && git restore --staged .",
    "git clean -fd",
    "git clean -ffdx",
    "git stash -u && git stash drop && git stash pop",
    "git rm -rqf src && git commit -qm gone",
    "git -C nested checkout inner && rm nested/loose && git stash clear",
    'd=$(mktemp -d); cp -r src "$d"; rm -rf src; mv "$d/src" src; rm -f src/a.py; rmdir "$d"',
    "bash -c 'rm -rf notes; git checkout other -- src; shred -u todo'",
]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("template") / "top"
    make_tree(top)
    return top


@pytest.mark.parametrize("script", SCRIPTS, ids=range(len(SCRIPTS)))
async def test_undo_restores_the_tree_and_leaves_what_was_changed_by_hand(
    script: str, template: Path, tmp_path: Path, home: Path
) -> None:
    top = tmp_path / "top"
    copy_tree(template, top)
    before = look(top)
    settings = Settings(undo=UndoSettings(mode="on"), policy=PolicySettings(guard="off"))
    result = await nacre.run(script, cwd=top, settings=settings)
    assert any(notice.startswith("undo: `nacre undo undo_1` restores") for notice in result.notices), result
    assert look(top) != before
    for name in HAND:
        path = top / name
        os.makedirs(path.parent, exist_ok=True)
        if not path.is_dir():
            path.write_text("by hand\n", encoding="utf-8")
    hands = {name: (top / name).read_bytes() for name in HAND}
    store = UndoStore(str(home))
    entry = store.get("undo_1")
    restore(store, entry, plan(entry), settings.undo)
    after = look(top)
    assert {name: (top / name).read_bytes() for name in HAND} == hands
    ours = {*HAND}
    assert {name: facts for name, facts in after.items() if name not in ours and not name.startswith("git ")} == {
        name: facts for name, facts in before.items() if name not in ours and not name.startswith("git ")
    }
    # The last fact is the status, which tells of the files that were changed by hand.
    assert [facts[:-1] for name, facts in after.items() if name.startswith("git ")] == [
        facts[:-1] for name, facts in before.items() if name.startswith("git ")
    ]
