import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.output.redaction.redactor import Redactor
from nacre.output.redaction.tokens import KNOWN_TOKENS, TOKEN_SOURCE, token_label

GITHUB = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6"


def test_a_token_nobody_removed_is_named_by_its_provider() -> None:
    redactor = Redactor({"OTHER": "some-other-value"}, known_tokens=True)
    assert redactor.feed(f"remote: {GITHUB}\n".encode()) == b"remote: [redacted:github]\n"
    assert redactor.counts == {"github": 1}


def test_without_the_flag_only_removed_values_are_replaced() -> None:
    redactor = Redactor({"OTHER": "some-other-value"})
    assert redactor.feed(f"{GITHUB}\n".encode()) == f"{GITHUB}\n".encode()


def test_chunks_do_not_change_what_is_found() -> None:
    shuffled = random.Random(7)
    run = "w" * 900
    text = f"a{GITHUB} {GITHUB}. x={GITHUB}\n{run}/{GITHUB} AKIAIOSFODNN7EXAMPLE task-runner-with-0 ".encode() * 3
    whole = Redactor({"OTHER": "some-other-value"}, known_tokens=True)
    expected = whole.feed(text) + whole.flush()
    assert expected.count(b"[redacted:github]") == 9
    assert expected.count(b"[redacted:aws]") == 3
    for _ in range(200):
        cuts = sorted(shuffled.choices(range(len(text)), k=6))
        parts = Redactor({"OTHER": "some-other-value"}, known_tokens=True)
        shown = b"".join(parts.feed(text[a:b]) for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True))
        assert shown + parts.flush() == expected


@pytest.mark.parametrize(
    "text",
    ["d41d8cd98f00b204e9800998ecf8427e", "9b2c1f0e-7d3a-4c55-8a10-0f5f5f5f5f5f", "task-runner-with-a-very-long-name-01",
     "/nix/store/0c1p5z4kda11j6fx8vpmk4s5qwvx9r3b-bash-5.2", "npm_config_registry_of_the_company", "sk-SK.UTF-8"],
)  # fmt: skip
def test_ids_hashes_and_names_are_no_tokens(text: str) -> None:
    assert token_label(text) is None


@pytest.mark.parametrize("label", KNOWN_TOKENS)
@given(st.data())
@settings(max_examples=30)
def test_every_token_of_a_known_format_is_found_in_a_stream(label: str, data: st.DataObject) -> None:
    source = re.sub(r"\(\?[=!][^()]*\)", "", KNOWN_TOKENS[label])
    token = data.draw(st.from_regex(re.compile(source, re.ASCII), fullmatch=True)).strip("\n")
    found = re.search(TOKEN_SOURCE, token)
    if not found:
        return
    assert token_label(token) == found.lastgroup
    redactor = Redactor({"OTHER": "some-other-value"}, known_tokens=True)
    shown = redactor.feed(f"key-{token}\n".encode()) + redactor.flush()
    assert token.encode() not in shown
    assert b"[redacted:" in shown
