"""The destructive scripts, and what undo makes of one. As a program (`python -m undo.scripts DIR`): all of them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

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


async def differences(script: str, template: Path, top: Path, home: Path) -> list[str]:
    """Run a script in a copy of the tree, change files by hand, undo; return what is not as it should be."""
    copy_tree(template, top)
    before = look(top)
    settings = Settings(undo=UndoSettings(mode="on"), policy=PolicySettings(guard="off"))
    result = await nacre.run(script, cwd=top, settings=settings)
    if not any(notice.startswith("undo: `nacre undo undo_1` restores") for notice in result.notices):
        return [f"the answer names no undo: {result}"]
    if look(top) == before:
        return ["the script destroyed nothing"]
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
    wrong = [f"{name} was changed by hand" for name in HAND if (top / name).read_bytes() != hands[name]]
    for name in sorted((before.keys() | after.keys()) - {*HAND}):
        was, now = before.get(name), after.get(name)
        if name.startswith("git ") and isinstance(was, tuple) and isinstance(now, tuple):
            # The last fact is the status, which tells of the files that were changed by hand.
            was, now = was[:-1], now[:-1]
        if was != now:
            wrong.append(f"{name}: {now!r}, was {was!r}")
    return wrong


async def all_differences(directory: Path) -> dict[str, list[str]]:
    """Return what is wrong after each of the scripts, by the script."""
    template = directory / "template"
    make_tree(template)
    wrong = {}
    for number, script in enumerate(SCRIPTS):
        home = directory / f"home{number}"
        os.environ["NACRE_HOME"] = str(home)
        if found := await differences(script, template, directory / f"top{number}", home):
            wrong[script] = found
    return wrong


if __name__ == "__main__":
    print(json.dumps(asyncio.run(all_differences(Path(sys.argv[1])))))
