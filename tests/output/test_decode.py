import pytest

from nacre.output.decode import decode, fit_head, fit_tail, trim_head, trim_tail

EURO = "€".encode()
CLEF = "𝄞".encode()


def test_invalid_bytes_show_as_replacement_characters() -> None:
    assert decode(b"a\xff\xe2\x82b\x00") == "a��b\x00"


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        (b"", b""),
        (b"abc", b"abc"),
        (b"a" + EURO, b"a" + EURO),
        (b"a" + EURO[:2], b"a"),
        (b"a" + EURO[:1], b"a"),
        (b"a" + CLEF[:3], b"a"),
        (CLEF[:3], b""),
        (b"a\x80", b"a\x80"),
        (b"a\xff", b"a\xff"),
        (b"\x80\x80\x80\x80\x80", b"\x80\x80\x80\x80\x80"),
    ],
)
def test_a_head_loses_only_a_character_that_was_cut(data: bytes, kept: bytes) -> None:
    assert trim_head(data) == kept


@pytest.mark.parametrize(
    ("data", "kept"),
    [(b"", b""), (b"abc", b"abc"), (EURO, EURO), (EURO[1:] + b"a", b"a"), (CLEF[1:] + b"a", b"a"), (CLEF[3:], b"")],
)
def test_a_tail_loses_only_a_character_that_was_cut(data: bytes, kept: bytes) -> None:
    assert trim_tail(data) == kept


def test_fitting_keeps_what_fits_and_says_how_many_bytes_that_is() -> None:
    assert fit_head(b"abc", 3) == ("abc", 3)
    assert fit_head(b"ab" + EURO, 4) == ("ab", 2)
    assert fit_tail(EURO + b"ab", 4) == ("ab", 2)


def test_undecodable_bytes_that_grow_when_shown_are_fitted_too() -> None:
    assert fit_head(b"\xff" * 10, 9) == ("�" * 3, 3)
    assert fit_tail(b"\xff" * 10, 9) == ("�" * 3, 3)
    assert fit_tail(b"\xff" * 9 + b"a", 9) == ("��a", 3)


def test_a_tail_of_broken_surrogates_stays_within_its_limit() -> None:
    # One byte more shows as three U+FFFD here: the decoder waits for the third byte before it gives the sequence up.
    data = (bytes.fromhex("a0000080808080ed") * 30_000)[:186_046]
    text, kept = fit_tail(data[-4100:], 4096)
    assert len(text.encode()) <= 4096
    assert text == decode(data[len(data) - kept :])
