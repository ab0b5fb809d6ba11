"""How a target is started: what it imports is instrumented, and libFuzzer calls it until the time is over.

A target is one file with `one_input(data)`; a failed assertion or an exception that it does not expect is a finding.
Run one by hand with `python tests/fuzz/guard.py -max_total_time=60`, and a finding again by naming its file.
"""

import sys
from collections.abc import Callable

import atheris

instrumented = atheris.instrument_imports


def pieces(provider: atheris.FuzzedDataProvider, data: bytes) -> list[bytes]:
    """The data, cut at a few places."""
    cuts = sorted(provider.ConsumeIntInRange(0, len(data)) for _ in range(provider.ConsumeIntInRange(0, 6)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


def start(one_input: Callable[[bytes], None]) -> None:
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
