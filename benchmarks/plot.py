"""The run as a picture: bars on one scale for each workload, readable on light and on dark."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

from benchmarks.measured import Measured, Results
from benchmarks.peers.catalogue import Entry
from benchmarks.robustness import CASES
from benchmarks.workloads import AT_ONCE, FLOORS

WIDTH = 860
NAMES = 210
BARS = 470
ROW = 19
GAP = 46

STYLE = """
text { font: 12px system-ui, sans-serif; fill: #24292f; }
.title { font-weight: 600; font-size: 14px; }
.strong { font-weight: 600; }
.quiet { fill: #6e7781; }
.fails { fill: #b35900; }
.floor { fill: #8c959f; } .peer { fill: #6a9bd1; } .ours { fill: #c2418f; }
.grid { stroke: #8c959f; stroke-opacity: .35; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .quiet { fill: #9198a1; } .fails { fill: #f0a050; }
  .floor { fill: #767e89; } .peer { fill: #4f83bd; } .ours { fill: #e06fb3; }
}
"""


@dataclass(frozen=True, slots=True)
class Bar:
    name: str
    look: str
    value: float | None
    label: str


def render(results: Results) -> str:
    panels = []
    if "true_paced" in results.workloads:
        panels.append(("Latency of `true`, median (logarithmic)", _times(results, "true_paced"), True))
    if "bin_true_paced" in results.workloads:
        panels.append(("Latency of `/bin/true`, median (logarithmic)", _times(results, "bin_true_paced"), True))
    if "large" in results.workloads:
        panels.append(("Taking in a flood of output, median", _times(results, "large"), False))
    last = f"at_once_{AT_ONCE[-1]}"
    if last in results.workloads:
        panels.append((f"{AT_ONCE[-1]} commands at once, median", _times(results, last), False))
    if results.robustness:
        panels.append((f"Cases of robustness that come out right, of {len(CASES)}", _robust(results), False))
    body: list[str] = []
    top = 20
    for title, bars, logarithmic in panels:
        drawn, height = _panel(title, bars, top, logarithmic=logarithmic)
        body += drawn
        top += height + GAP
    view = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}"'
    label = "nacre, floors and other tools measured in one run"
    return f'<svg {view} role="img" aria-label="{label}">\n<style>{STYLE}</style>\n' + "\n".join(body) + "\n</svg>\n"


def _look(entry: Entry) -> str:
    return "ours" if entry.ours else "floor" if entry.kind == "floor" else "peer"


def _times(results: Results, key: str) -> list[Bar]:
    floor = results.workloads[key].get(FLOORS[key], Measured()).median
    bars = []
    for entry in results.entries():
        mine = results.workloads[key].get(entry.name)
        if mine is None:
            continue
        median = mine.median
        if median is None:
            bars.append(Bar(entry.name, _look(entry), None, "fails: " + " ".join(mine.failure.split())[:48]))
            continue
        time = f"{median * 1e3:.3g} ms" if median < 1 else f"{median:.2f} s"
        bars.append(Bar(entry.name, _look(entry), median, f"{time} (×{median / floor:.2g})" if floor else time))
    return sorted(bars, key=lambda bar: (bar.value is None, bar.value or 0.0))


def _robust(results: Results) -> list[Bar]:
    bars = []
    for entry in results.entries():
        verdicts = results.robustness.get(entry.name)
        if verdicts is not None:
            passed = sum(each.ok for each in verdicts.values())
            bars.append(Bar(entry.name, _look(entry), passed, str(passed)))
    return sorted(bars, key=lambda bar: -(bar.value or 0))


def _panel(title: str, bars: list[Bar], top: int, *, logarithmic: bool) -> tuple[list[str], int]:
    values = [bar.value for bar in bars if bar.value]
    lengths = _lengths(values, logarithmic=logarithmic)
    parts = [f'<text class="title" x="8" y="{top}">{escape(title)}</text>']
    bottom = top + 8 + len(bars) * ROW
    parts.append(f'<line class="grid" x1="{NAMES}" y1="{top + 8}" x2="{NAMES}" y2="{bottom}"/>')
    for number, bar in enumerate(bars):
        y = top + 10 + number * ROW
        name = ' class="strong"' if bar.look == "ours" else ""
        parts.append(f'<text{name} x="{NAMES - 8}" y="{y + 12}" text-anchor="end">{escape(bar.name)}</text>')
        if bar.value is None:
            parts.append(f'<text class="fails" x="{NAMES + 6}" y="{y + 12}">{escape(bar.label)}</text>')
            continue
        length = lengths.get(bar.value, 0.0)
        parts.append(
            f'<rect class="{bar.look}" x="{NAMES}" y="{y + 2}" width="{length:.1f}" height="{ROW - 6}" rx="2"/>'
        )
        parts.append(f'<text class="quiet" x="{NAMES + length + 6:.1f}" y="{y + 12}">{escape(bar.label)}</text>')
    return parts, bottom - top


def _lengths(values: list[float], *, logarithmic: bool) -> dict[float, float]:
    if not values:
        return {}
    if not logarithmic:
        return {value: value / max(values) * BARS for value in values}
    # A decade of room below the least, so that it has a length too.
    least = math.log10(min(values)) - 0.5
    span = math.log10(max(values)) - least
    return {value: (math.log10(value) - least) / span * BARS for value in values}
