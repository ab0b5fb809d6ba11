import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.environment.token_shapes import KNOWN_TOKENS, TOKEN_SOURCE, token_label


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
def test_every_token_of_a_known_format_is_named_by_its_provider(label: str, data: st.DataObject) -> None:
    source = re.sub(r"\(\?[=!][^()]*\)", "", KNOWN_TOKENS[label])
    token = data.draw(st.from_regex(re.compile(source, re.ASCII), fullmatch=True)).strip("\n")
    found = re.search(TOKEN_SOURCE, token)
    if not found:
        return
    assert token_label(token) == found.lastgroup
