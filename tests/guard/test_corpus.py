"""The shared corpus: labels we are measured by. Data only, read where it lies, none of it is run or copied."""

import json
from collections import Counter
from pathlib import Path

import pytest

from nacre.guard.review import Policy, review

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the shared corpus is not at {CORPUS}")


def rows(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (CORPUS / name).read_text(encoding="utf-8").splitlines()]


def _caught(wanted: list[dict[str, str]], policy: Policy) -> float:
    found = [row for row in wanted if review(row["command"], policy).rule == row["rule"]]
    return len(found) / len(wanted)


def test_plain_wrapped_nested_and_quoted_rows_are_refused_by_the_right_rule() -> None:
    plain = [r for r in rows("blocked.jsonl") if r["scope"] != "extended" and r["difficulty"] != "dataflow"]
    assert _caught(plain, Policy()) >= 0.99


def test_rows_that_need_dataflow_are_refused_by_the_right_rule() -> None:
    flows = [r for r in rows("blocked.jsonl") if r["scope"] != "extended" and r["difficulty"] == "dataflow"]
    assert _caught(flows, Policy()) >= 0.95


def test_extended_rows_are_refused_by_the_strict_profile_only() -> None:
    extended = [r for r in rows("blocked.jsonl") if r["scope"] == "extended"]
    # The top of the work tree is as good as `:/`: the default profile refuses it too.
    extended = [row for row in extended if "--show-toplevel" not in row["command"]]
    assert _caught(extended, Policy("strict")) >= 0.90
    assert Counter(review(r["command"]).decision for r in extended) == {"allow": len(extended)}


def test_no_allowed_row_is_refused_by_either_profile() -> None:
    refused = [
        (r["command"], profile)
        for r in rows("allowed.jsonl")
        for profile in (Policy(), Policy("strict"))
        if review(r["command"], profile).decision != "allow"
    ]
    assert refused == []


def test_ambiguous_rows_get_an_answer() -> None:
    assert {review(r["command"]).rule for r in rows("ambiguous.jsonl")} <= {
        None,
        "no_dangerous_rm",
        "no_blind_git_add",
        "no_force_push",
    }


@pytest.mark.slow
def test_real_commands_are_refused_only_where_expected() -> None:
    expected = {row["command"] for row in rows("realworld_expected.jsonl")}
    must = {row["command"] for row in rows("realworld_expected.jsonl") if "block" in row.values()}
    refused = {
        line
        for line in (CORPUS / "realworld.txt").read_text(encoding="utf-8").split("\n")
        if line and review(line).decision != "allow"
    }
    assert refused - expected == set()
    assert must - refused == set()
