"""A shortened text is compared with the report that its tool wrote."""

from __future__ import annotations

import pytest

from nacre.minimize.reports import Report, disagreement, report_of

XML = """<?xml version="1.0"?><testsuites><testsuite tests="3">
<testcase name="test_a"/><testcase name="test_b[1]"><failure message="x">y</failure></testcase>
<testcase name="test_c"><error message="z">z</error></testcase></testsuite></testsuites>"""


def test_a_report_has_counts_and_names() -> None:
    assert report_of(XML) == Report(1, 1, ("test_b[1]", "test_c"))
    assert report_of(XML[:90]) is None
    assert report_of("") is None


@pytest.mark.parametrize(
    ("shown", "fault"),
    [
        ("FAILED test_b[1]\nERROR test_c\n=== 1 failed, 1 passed, 1 error in 0.1s ===", ""),
        (
            "FAILED test_b[1]\n=== 1 failed, 1 passed, 1 error in 0.1s ===",
            "1 of 2 failing tests are missing, test_c among them",
        ),
        ("FAILED test_b[1]\nERROR test_c\n=== 1 passed, 1 error in 0.1s ===", "0 failed instead of 1"),
        ("FAILED test_b[1]\nERROR test_c\n=== 1 failed, 3 errors ===", "3 error instead of 1"),
    ],
)
def test_a_text_that_lacks_a_name_or_a_count_disagrees(shown: str, fault: str) -> None:
    report = report_of(XML)
    assert report is not None
    assert disagreement(report, shown) == fault
