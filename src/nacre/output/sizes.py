"""Sizes as people read them."""

from __future__ import annotations


def human_size(size: float) -> str:
    """512B, 1.5KB, 128.0KB, 2.0GB (steps of 1024)."""
    if size < 1024:
        return f"{size:.0f}B"
    for unit in ("KB", "MB", "GB"):
        size /= 1024
        if size < 1024 or unit == "GB":
            break
    return f"{size:.1f}{unit}"
