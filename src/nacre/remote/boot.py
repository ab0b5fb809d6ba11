"""What is sent to a machine so that the far side runs there: a short text for its `sh`, then the far side's own source.

Nothing has to be installed there but Python 3.9. The text first says one line with a word that was made for this
connection, so that what a login shell prints before is told apart.
"""

from __future__ import annotations

import functools
import io
import os
import zipfile

from nacre.warden.launch import quoted

# Exit of an interpreter that is too old, so that the next is tried.
_TOO_OLD = 93
INTERPRETERS = ("python3", "python3.13", "python3.12", "python3.11", "python3.10", "python3.9", "python")

# Runs in the interpreter of the machine, which may be of any version; one that the machine's service takes over ends
# when the service closes its socket.
_FIRST = f"""
import sys
if sys.version_info < (3, 9): sys.exit({_TOO_OLD})
import array, os, socket
word, name = sys.argv[1:]
def say(text): os.write(1, ("\\n" + word + " " + text + "\\n").encode())
def take(count):
    data = b""
    while len(data) < count:
        piece = os.read(0, count - len(data))
        if not piece: sys.exit(1)
        data += piece
    return data
place = "/tmp/nacre-remote-%d" % os.getuid()
try: os.mkdir(place, 0o700)
except FileExistsError: pass
except OSError as error: say("failed %s: %s" % (place, error.strerror)); sys.exit(1)
state = os.lstat(place)
if (state.st_mode, state.st_uid) != (0o40700, os.getuid()):
    say("failed %s is not a private directory of this user; remove it" % place); sys.exit(1)
sock = socket.socket(socket.AF_UNIX)
try: sock.connect(os.path.join(place, name))
except OSError: sock = None
if sock is not None:
    say("known")
    sock.sendmsg([b"l"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1]))])
    sock.recv(1); sys.exit(0)
say("new")
source = take(int.from_bytes(take(8), "big"))
fd = os.memfd_create("nacre-remote")
os.write(fd, source)
sys.path.insert(0, "/proc/self/fd/%d" % fd)
from nacre.warden import remote_entry
remote_entry.main(place, name)
"""


def first_text(word: str, name: str) -> str:
    """The text for the machine's `sh` that starts the service of that name, or takes this link to it."""
    tries = " ".join(INTERPRETERS)
    call = f'"$p" -I -S -c {quoted(_FIRST)} {word} {name}'
    return (
        f'for p in {tries}; do command -v "$p" >/dev/null 2>&1 || continue; {call}; code=$?; '
        f'[ "$code" = {_TOO_OLD} ] || exit "$code"; done; echo; echo {word} no-python'
    )


@functools.cache
def archive() -> bytes:
    """The source of the far side as it is sent: eight bytes of length, then a zip without compression."""
    from nacre import warden

    folder = os.path.dirname(warden.__file__)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as packed:
        packed.writestr("nacre/__init__.py", "")
        for file in sorted(os.listdir(folder)):
            if file.endswith(".py"):
                packed.write(os.path.join(folder, file), f"nacre/warden/{file}")
    source = data.getvalue()
    return len(source).to_bytes(8, "big") + source
