"""A private root on this machine: what can be written is private, the system is read-only, all ends with it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import nacre
from nacre.adapters.private_root import private_root
from nacre.errors import BackendUnavailableError
from nacre.remote.link_thread import links
from nacre.remote.remote_backend import connect


@pytest.fixture(autouse=True)
def no_links(no_leaks: None) -> Iterator[None]:
    yield
    links.end()


async def test_what_is_written_is_private_and_ends_with_it(tmp_path: Path) -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    kept = tmp_path / "kept"
    async with await connect(private_root(str(kept), own=["/app"], network=False)) as place:
        result = await nacre.run(
            "id -u; echo mine >/app/file; echo tmp >/tmp/file; ls -A ~; touch /usr/file 2>/dev/null || echo refused;"
            "tail -n +3 /proc/net/dev | cut -d: -f1; setsid -f sleep 600 >/dev/null 2>&1",
            backend=place,
            cwd="/app",
        )
    assert result.text.split() == ["0", "refused", "lo"]
    assert (kept / "app" / "file").read_text(encoding="utf-8") == "mine\n"
    assert (kept / "tmp" / "file").read_text(encoding="utf-8") == "tmp\n"
    assert not os.path.exists("/app/file")


def test_without_bubblewrap_the_error_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BackendUnavailableError, match="needs bubblewrap"):
        private_root(str(tmp_path / "kept"), own=["/app"])
