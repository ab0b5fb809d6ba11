"""How long the guard takes: ordinary commands (median, p99) and the shapes that break slow checkers.

Run with `python -m benchmarks.guard`; it judges text and runs none of it.
"""

import statistics
import time
from collections.abc import Sequence

from nacre.guard.policy import Policy
from nacre.guard.review import review

ORDINARY = (
    "ls -la",
    "git status",
    "git add src/main.py tests/test_main.py",
    'git commit -m "Fix the parser: it\'s about (time)"',
    "cd src && pytest -q tests/test_guard.py 2>&1 | tail -n 20",
    'grep -rn "TODO" --include="*.py" . | head -50',
    "rm -rf build dist *.egg-info",
    'for f in *.py; do echo "$f"; wc -l "$f"; done',
    'find . -name "*.pyc" -not -path "./.venv/*" -exec rm -f {} +',
    "npm ci && npm run build -- --production",
    'docker run --rm -v "$PWD:/work" -w /work python:3.12 python -m pytest',
    'if [ -f .env ]; then export $(grep -v "^#" .env | xargs); fi',
    "cat > /tmp/x.py <<'EOF'\nimport os\nprint(os.getcwd())\nEOF\npython3 /tmp/x.py",
    'curl -s "https://example.com/api?x=1" | jq ".items[] | .name"',
    "sudo systemctl restart nginx",
    "sed -n '1,80p' src/app.ts",
)
HUGE = {
    "1 MB of plain words": "echo " + "a " * 500_000,
    "1 MB of words after a quoted one": "echo 'x' " + "a " * 500_000,
    "1 MB in one string": 'echo "' + "a" * 1_000_000 + '"',
    "20,000 nested parentheses": "( " * 20_000 + "ls" + " )" * 20_000,
    "20,000 nested substitutions": "$(" * 20_000 + "ls" + ")" * 20_000,
    "50,000 stages": "|".join(["cat"] * 50_000),
    "50,000 quoted stages": "|".join(['cat "x"'] * 50_000),
}


def microseconds(commands: Sequence[str], policy: Policy, rounds: int = 300) -> list[float]:
    """One time per command and round."""
    times: list[float] = []
    for _ in range(rounds):
        for command in commands:
            started = time.perf_counter()
            review(command, policy)
            times.append((time.perf_counter() - started) * 1e6)
    return sorted(times)


def main() -> None:
    for profile in (Policy(), Policy("strict")):
        times = microseconds(ORDINARY, profile)
        print(
            f"{profile.profile}: median {statistics.median(times):.0f} µs, p99 {times[int(len(times) * 0.99)]:.0f} µs"
        )
    for name, command in HUGE.items():
        started = time.perf_counter()
        verdict = review(command)
        print(f"{name}: {time.perf_counter() - started:.3f} s, {verdict.decision} {verdict.rule or ''}")


if __name__ == "__main__":
    main()
