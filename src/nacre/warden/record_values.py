"""Which values a job's record may have: one that another program wrote, or a broken disk, may have any."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NUMBER = (int, float)
_KINDS: dict[str, tuple[type | None, ...]] = {
    "id": (str,),
    "state": (str,),
    "command": (str,),
    "label": (str,),
    "startedAt": _NUMBER,
    "endedAt": (*_NUMBER, None),
    "timeout": (*_NUMBER, None),
    "exitCode": (int, None),
    "signal": (int, None),
    "signalName": (str, None),
    "stages": (list,),
    "survivors": (list,),
    "pid": (int,),
    "pidStart": (int, None),
    "runnerPid": (int,),
    "runnerStart": (int, None),
    "bootId": (str,),
    "outputFile": (str,),
    "outputBytes": (int,),
    "droppedBytes": (int,),
    "budget": (str,),
}
_MOST = 1 << 62


def check_values(record: dict[str, Any]) -> None:
    """Look at the values that readers rely on; raises ValueError for one that is of no use."""
    for name, kinds in _KINDS.items():
        if name in record and not _is_one_of(record[name], kinds):
            raise ValueError(f"has a {name} that is none")


def _is_one_of(value: Any, kinds: tuple[type | None, ...]) -> bool:
    if value is None or isinstance(value, bool):
        return (None if value is None else bool) in kinds
    if isinstance(value, (int, float)):
        # Neither infinite nor no number, and small enough for every clock and file.
        return type(value) in kinds and abs(value) <= _MOST
    if isinstance(value, list):
        return list in kinds and all(isinstance(one, (int, dict)) for one in value)
    return type(value) in kinds
