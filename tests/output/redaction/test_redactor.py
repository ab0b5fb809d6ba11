import base64
import json
import subprocess
import sys
import urllib.parse

import pytest

from nacre.output.redaction.forms import is_worth_hiding, value_forms
from nacre.output.redaction.redactor import Redactor

TOKEN = "Zq7-not/a real+token_91"
KEY_BLOCK = """\
-----BEGIN PRIVATE KEY-----
MIIBVgIBADANBgkqhkiG9w0BAQEFAASC
qX9bYw3Tn5LcR8sKfD2mVh7UoJ4eZa1G
-----END PRIVATE KEY-----
"""


def redacted(text: bytes, **secrets: str) -> bytes:
    redactor = Redactor(secrets)
    return redactor.feed(text) + redactor.flush()


@pytest.mark.parametrize(
    ("broken", "shown"),
    [
        (b"a not-a-\x1b[31mreal-\x1b[0mtoken b", b"a [redacted:T]\x1b[31m\x1b[0m b"),
        (b"a \x1b[1mn\x1b[0mot-a-real-token\x1b[0m b", b"a \x1b[1m[redacted:T]\x1b[0m\x1b[0m b"),
        (b"a not-a-\0real-token b", b"a [redacted:T] b"),
        (b"not-a-real-token\n".replace(b"", b"\0")[1:], b"[redacted:T]\0\n\0"),
        (b"not-a-re\x1b]0;title\x07al-token", b"[redacted:T]\x1b]0;title\x07"),
        (b"not-a-re\bal-tok\x7fen", b"[redacted:T]"),
        # What a broken sequence takes for its end is the first letter for others.
        (b"\x1b[31not-a-real-token", b"\x1b[31[redacted:T]"),
        (b"not-a-real-\x1b[31", b"not-a-real-\x1b[31"),
        (b"not-a-\x1bPreal-token", b"not-a-\x1bPreal-token"),
    ],
)
def test_terminal_control_does_not_hide_a_value(broken: bytes, shown: bytes) -> None:
    assert redacted(broken, T="not-a-real-token") == shown
    redactor = Redactor({"T": "not-a-real-token"})
    bytewise = [redactor.feed(broken[at : at + 1]) for at in range(len(broken))]
    assert b"".join(bytewise) + redactor.flush() == shown


def test_what_is_held_for_a_value_with_control_in_it_stays_small() -> None:
    redactor = Redactor({"T": "not-a-real-token"})
    given = shown = 0
    for chunk in (b"not-a-", *[b"\x1b[0m" * 1000] * 100, b"\x1b]0;", *[b"x" * 1000] * 100):
        given += len(chunk)
        shown += len(redactor.feed(chunk))
        assert given - shown < 80_000
    assert given - shown < 5000


@pytest.mark.parametrize(
    "spelling",
    [
        TOKEN,
        base64.b64encode(TOKEN.encode()).decode(),
        base64.b64encode(TOKEN.encode() + b"\n").decode(),
        base64.urlsafe_b64encode(TOKEN.encode()).decode(),
        base64.b64encode(TOKEN.encode()).decode().rstrip("="),
        urllib.parse.quote(TOKEN),
        urllib.parse.quote(TOKEN, safe=""),
        urllib.parse.quote_plus(TOKEN),
        json.dumps(TOKEN)[1:-1],
        TOKEN.replace("/", "\\/"),
        TOKEN.replace(" ", "\\ "),
    ],
)
def test_every_spelling_of_a_value_is_replaced_whole(spelling: str) -> None:
    assert redacted(f"a {spelling} z".encode(), T=TOKEN) == b"a [redacted:T] z"


@pytest.mark.parametrize("before", ["", "u", "us", "user:"])
def test_base64_of_a_longer_text_is_found_at_every_alignment(before: str) -> None:
    encoded = base64.b64encode(f"{before}{TOKEN} and more".encode())
    shown = redacted(encoded, T=TOKEN)
    assert b"[redacted:T]" in shown
    assert len(shown.replace(b"[redacted:T]", b"")) <= len(encoded) - len(TOKEN) * 4 // 3 + 1


@pytest.mark.parametrize("width", [20, 64, 76])
def test_wrapped_base64_is_found_across_its_line_breaks(width: int) -> None:
    for padding in range(width):
        encoded = base64.b64encode(b"." * padding + (TOKEN * 2).encode())
        wrapped = b"\r\n".join(encoded[at : at + width] for at in range(0, len(encoded), width))
        shown = redacted(wrapped, T=TOKEN * 2)
        left = shown.replace(b"[redacted:T]", b"").replace(b"\r\n", b"")
        core = base64.b64encode(b"." * padding + (TOKEN * 2).encode())[-(len(TOKEN) * 2 * 4 // 3) :]
        assert not any(core[at : at + 12] in left for at in range(len(core) - 12))


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        ('it\'s a "quoted" $ecret', "'it'\\''s a \"quoted\" $ecret'"),
        ('it\'s a "quoted" $ecret', 'it\\\'s\\ a\\ \\"quoted\\"\\ \\$ecret'),
        ('it\'s a "quoted" $ecret', '"it\'s a \\"quoted\\" \\$ecret"'),
        ("two\nlines of it", "$'two\\nlines of it'"),
    ],
)
def test_shell_quoting_does_not_hide_a_value(value: str, printed: str) -> None:
    assert b"of it" not in redacted(printed.encode(), T=value)
    assert b"ecret" not in redacted(printed.encode(), T=value)


def test_what_bash_prints_of_a_value_is_found() -> None:
    value = "p@ss 'w' \"o\" `r` $d!\\x;&|<>(){}[]*?#~,^"
    script = 'printf "%q\\n" "$V"; declare -p V; set -x; : "$V"'
    done = subprocess.run(["bash", "-c", script], env={"V": value}, capture_output=True, check=True)
    shown = redacted(done.stdout + done.stderr, V=value)
    assert shown.count(b"[redacted:V]") == 3


def test_each_line_of_a_key_block_is_hidden_but_not_its_frame() -> None:
    for line in KEY_BLOCK.splitlines()[1:-1]:
        assert redacted(b"> " + line.encode() + b"\n", K=KEY_BLOCK) == b"> [redacted:K]\n"
    assert redacted(b"-----BEGIN PRIVATE KEY-----\n", K=KEY_BLOCK) == b"-----BEGIN PRIVATE KEY-----\n"


def test_a_whole_key_block_goes_at_once_with_either_line_ending() -> None:
    assert redacted(KEY_BLOCK.encode(), K=KEY_BLOCK) == b"[redacted:K]\n"
    assert redacted(KEY_BLOCK.replace("\n", "\r\n").encode(), K=KEY_BLOCK) == b"[redacted:K]\r\n"


def test_a_finished_line_is_not_held_for_its_last_letter() -> None:
    redactor = Redactor({"T": "secret-value-1"})
    assert redactor.feed(b"yes\n") == b"yes\n"
    assert redactor.feed(b"yes") == b"ye"
    assert redactor.flush() == b"s"


def test_half_a_value_is_held_over_a_pause() -> None:
    redactor = Redactor({"T": "secret-value-1"})
    assert redactor.feed(b"x secret-va") == b"x "
    assert redactor.feed(b"lue-1 y") == b"[redacted:T] y"


def test_the_longest_value_wins_where_two_begin() -> None:
    redactor = Redactor({"SHORT": "abcdefgh", "LONG": "abcdefghijklmnop"})
    shown = redactor.feed(b"abcdefgh-abcdefghij") + redactor.feed(b"klmnop") + redactor.flush()
    assert shown == b"[redacted:SHORT]-[redacted:LONG]"
    assert redactor.counts == {"SHORT": 1, "LONG": 1}


@pytest.mark.parametrize("value", ["short", "password", "1234567890", "/home/u/.aws/credentials", "~/.ssh/id_rsa", ""])
def test_values_that_redacting_would_not_help_are_left(value: str) -> None:
    assert not is_worth_hiding(value)
    assert not Redactor({"V": value})


@pytest.mark.parametrize("value", ["correcthorse", "open sesame", "123456789012", "/Ab9+xY/kkQz81LmN0pQrStUvWx"])
def test_values_that_merely_look_plain_are_hidden(value: str) -> None:
    assert is_worth_hiding(value)


def test_nothing_to_redact_is_false_and_passes_everything_through() -> None:
    redactor = Redactor({})
    assert not redactor
    assert not Redactor.empty()
    assert redactor.feed(memoryview(b"abc")) + redactor.flush() == b"abc"
    assert redactor.redact_text("abc") == "abc"


def test_a_redactor_rebuilt_from_its_forms_behaves_the_same() -> None:
    built = Redactor({"T": TOKEN, "K": KEY_BLOCK})
    again = Redactor.from_forms(built.to_forms())
    text = f"{KEY_BLOCK} {TOKEN} {base64.b64encode(TOKEN.encode()).decode()}".encode()
    assert again.to_forms() == built.to_forms()
    assert again.feed(text) + again.flush() == built.feed(text) + built.flush()


def test_texts_are_redacted_apart_from_the_stream() -> None:
    redactor = Redactor({"T": TOKEN})
    redactor.feed(TOKEN[:5].encode())
    assert redactor.redact_text(f"bad {TOKEN}: \udcff") == "bad [redacted:T]: \udcff"
    assert redactor.feed(TOKEN[5:].encode()) == b"[redacted:T]"


def test_no_value_is_in_the_repr() -> None:
    assert repr(Redactor({"T": TOKEN})) == "Redactor(names=['T'], replaced=0)"


def test_a_value_in_undecodable_bytes_is_found() -> None:
    raw = b"caf\xe9-s\xd8\xdccret"
    value = raw.decode("utf-8", "surrogateescape")
    assert redacted(b"<" + raw + b">", V=value) == b"<[redacted:V]>"


@pytest.mark.parametrize("filler", [b"x", b"\xd8\x00\xdc\x00", "журнал ✓ ".encode(), b"line\n"])
def test_values_are_found_deep_in_a_long_stream(filler: bytes) -> None:
    secrets = {f"S{n}": f"{n}-kQ8{'z' * n}vT-value-{n}-end" for n in range(12)}
    redactor = Redactor(secrets)
    shown = redactor.feed(filler * (400_000 // len(filler)))
    for value in secrets.values():
        for form in value_forms(value):
            shown = redactor.feed(filler * 7 + form + filler * 5000)
            assert form not in shown
    assert sum(redactor.counts.values()) >= 12 * 4


def test_the_module_is_light_to_import_and_needs_only_the_standard_library() -> None:
    heavy = ("dataclasses", "urllib", "asyncio", "json", "nacre.output.redaction.forms")
    probe = f"""if True:
        import sys
        sys.path[:0] = {sys.path!r}
        import nacre.output.redaction.redactor
        nacre.output.redaction.redactor.Redactor.from_forms([("A", b"abcdefgh")])
        print([module for module in {heavy!r} if module in sys.modules])
    """
    done = subprocess.run([sys.executable, "-SIc", probe], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("around", ["high \ud800", "low \udc80", "\ud800\udc80 żółw"])
def test_a_text_with_lone_surrogates_is_redacted_and_stays(around: str) -> None:
    redactor = Redactor({"API_TOKEN": "c2VjcmV0-value-of-a-token"})
    text = f"{around}c2VjcmV0-value-of-a-token{around}"
    assert redactor.redact_text(text) == f"{around}[redacted:API_TOKEN]{around}"


@pytest.mark.parametrize(
    ("before", "kept"),
    [
        (b"\x1b[0", b"\x1b[0"),
        (b"\x1b", b"\x1b"),
        (b"\x1b(", b"\x1b("),
        (b"\x1b]8;;http://", b"\x1b]8;;http://"),
        (b"\x1bPq", b"\x1bPq"),
        (b"\0\x1b[1;31m", b"\0\x1b[1;31m"),
    ],
)
@pytest.mark.parametrize("padding", [0, 100_000])
def test_a_value_that_begins_inside_an_escape_sequence_is_replaced(before: bytes, kept: bytes, padding: int) -> None:
    line = b"plain\0text \x1b[32mgreen\x1b[0m\n"
    text = line * (padding // len(line))
    assert (
        redacted(text + before + b"my-token-value-1 end\n", T="my-token-value-1") == text + kept + b"[redacted:T] end\n"
    )


def test_the_end_of_a_long_text_with_control_is_held_while_it_may_be_a_value() -> None:
    redactor = Redactor({"T": "my-token-value-1"})
    text = b"a\x1b[32m\0b\n" * 10_000
    assert redactor.feed(text + b"my-\x1b[0mtok") == text
    assert redactor.feed(b"en-value-1.") == b"[redacted:T]\x1b[0m."
