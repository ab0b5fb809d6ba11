"""Run every fuzz target for a while, each in a process of its own: `python tests/fuzz/run.py --seconds 60`.

Corpora live in a temporary directory and are thrown away; an input that breaks a target is printed and kept.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TARGETS = (
    "guard",
    "redaction",
    "terminal",
    "frames",
    "reports",
    "records",
    "rule_files",
    "expressions",
    "rpc_lines",
    "mcp_lines",
    "proxy",
)


def fuzz(target: str, seconds: int, seed: int, corpus: Path, findings: Path) -> bool:
    """Whether the target held."""
    corpus.mkdir()
    command = [sys.executable, str(HERE / f"{target}.py"), f"-max_total_time={seconds}", "-timeout=30", "-max_len=2048"]
    command += [f"-seed={seed}", f"-artifact_prefix={findings}/{target}-", "-print_final_stats=1", str(corpus)]
    # libFuzzer ends by itself; the limit is for a target that hangs in C.
    ended = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds + 120, check=False
    )
    report = ended.stdout.decode(errors="replace")
    count = re.search(r"stat::number_of_executed_units:\s*(\d+)", report)
    print(
        f"{target}: {count.group(1) if count else 'unknown'} executions, {'ok' if not ended.returncode else 'FAILED'}"
    )
    if ended.returncode:
        print("\n".join(report.splitlines()[-60:]))
    return ended.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--seed", type=int, default=0, help="of the inputs; 0 takes other ones each time")
    parser.add_argument("targets", nargs="*", default=TARGETS, help=f"of {', '.join(TARGETS)}; all by default")
    options = parser.parse_args()
    findings = Path(tempfile.mkdtemp(prefix="nacre-fuzz-findings-"))
    with tempfile.TemporaryDirectory(prefix="nacre-fuzz-") as corpora:
        held = [
            fuzz(target, options.seconds, options.seed, Path(corpora, target), findings) for target in options.targets
        ]
    if all(held):
        shutil.rmtree(findings)
        return 0
    print(f"the inputs are in {findings}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
