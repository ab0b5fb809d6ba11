"""The shared corpus: labels we are measured by. Data only, read where it lies, none of it is run or copied."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from policies import MODES, STRICT_MODES

from nacre.guard.policy import Policy
from nacre.guard.review import review

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
IRREVERSIBLE = {"no_device_write", "no_fork_bomb", "no_system_permissions"}
WRITES_DISK = re.compile(
    r"^(?:.*\| )?(?:sudo )?(?:mkfs[.\w]*|mke2fs|mkswap|wipefs --all|blkdiscard|nwipe|scrub|badblocks .*-s?v?w"
    r"|bmaptool copy|rpi-imager|dd .*of=|dd of=|ddrescue --force|cryptsetup luksFormat|mdadm --zero-superblock"
    r"|parted .*mklabel|sgdisk --(?:zap-all|delete|load-backup)|sfdisk (?:<|--delete)|diskutil partitionDisk)"
)
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the shared corpus is not at {CORPUS}")


def rows(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (CORPUS / name).read_text(encoding="utf-8").splitlines()]


def _caught(wanted: list[dict[str, str]], policy: Policy) -> float:
    found = [row for row in wanted if review(row["command"], policy).rule == row["rule"]]
    return len(found) / len(wanted)


def test_plain_wrapped_nested_and_quoted_rows_are_refused_by_the_right_rule() -> None:
    plain = [r for r in rows("blocked.jsonl") if r["scope"] != "extended" and r["difficulty"] != "dataflow"]
    assert _caught(plain, MODES) >= 0.99


def test_rows_that_need_dataflow_are_refused_by_the_right_rule() -> None:
    flows = [r for r in rows("blocked.jsonl") if r["scope"] != "extended" and r["difficulty"] == "dataflow"]
    assert _caught(flows, MODES) >= 0.95


def test_extended_rows_are_refused_by_the_strict_profile_only() -> None:
    extended = [r for r in rows("blocked.jsonl") if r["scope"] == "extended"]
    # The top of the work tree is as good as `:/`: the default profile refuses it too.
    extended = [row for row in extended if "--show-toplevel" not in row["command"]]
    # What cannot be taken back is refused in every profile (D30).
    lost = [row for row in extended if review(row["command"]).rule in IRREVERSIBLE]
    assert {row["command"] for row in lost} == {"chmod -R 000 /", "dd if=/dev/zero of=/dev/sda"}
    extended = [row for row in extended if row not in lost]
    assert _caught(extended, STRICT_MODES) >= 0.90
    assert Counter(review(r["command"], MODES).decision for r in extended) == {"allow": len(extended)}


def test_no_allowed_row_is_refused_by_either_profile() -> None:
    refused = [
        (r["command"], profile)
        for r in rows("allowed.jsonl")
        for profile in (MODES, STRICT_MODES)
        if review(r["command"], profile).decision != "allow"
    ]
    assert refused == []


def test_ambiguous_rows_get_an_answer() -> None:
    assert {review(r["command"], MODES).rule for r in rows("ambiguous.jsonl")} <= {
        None,
        "no_dangerous_rm",
        "no_blind_git_add",
        "no_force_push",
    }


@pytest.mark.slow
def test_real_commands_are_refused_only_where_expected() -> None:
    expected = {row["command"] for row in rows("realworld_expected.jsonl")}
    must = {row["command"] for row in rows("realworld_expected.jsonl") if "block" in row.values()}
    lines = filter(None, (CORPUS / "realworld.txt").read_text(encoding="utf-8").split("\n"))
    refused = {line: verdict for line in lines if (verdict := review(line, MODES)).decision != "allow"}
    others = {line: verdict for line, verdict in refused.items() if verdict.rule not in IRREVERSIBLE}
    assert others.keys() - expected == set()
    assert must - refused.keys() == set()
    # Each of the rest formats, wipes or overwrites a disk that it names.
    disks = {line: verdict.rule for line, verdict in refused.items() if line not in others}
    assert set(disks.values()) == {"no_device_write"}
    assert [line for line in disks if not WRITES_DISK.search(line)] == []
    assert len(disks) > 70
