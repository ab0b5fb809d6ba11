"""Requests to the proxy are read whole, in any pieces, and refused where they are not understood."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.warden.proxy_protocol import MOST_HEAD_BYTES, ProxyError, ProxyReader, ProxyRequest


def read(data: bytes, size: int = 1 << 20) -> tuple[ProxyRequest | None, bytes]:
    reader, request, answers = ProxyReader(), None, b""
    for at in range(0, len(data), size):
        assert request is None
        request, answer = reader.feed(data[at : at + size])
        answers += answer
    return request, answers


def place(request: ProxyRequest | None) -> tuple[str, int] | None:
    return None if request is None else (request.host, request.port)


SOCKS = b"\x05\x01\x00"
NAME = SOCKS + b"\x05\x01\x00\x03\x0bexample.org\x01\xbb"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n", ("example.org", 443)),
        (b"CONNECT Example.ORG.:443 HTTP/1.0\r\n\r\n", ("example.org", 443)),
        (b"CONNECT [::1]:22 HTTP/1.1\r\n\r\n", ("::1", 22)),
        (b"GET http://example.org/a?b HTTP/1.1\r\nHost: other.org\r\n\r\n", ("example.org", 80)),
        (b"GET http://example.org:8080 HTTP/1.1\r\n\r\n", ("example.org", 8080)),
        (NAME, ("example.org", 443)),
        (SOCKS + b"\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50", ("127.0.0.1", 80)),
        (SOCKS + b"\x05\x01\x00\x04" + bytes(15) + b"\x01\x00\x50", ("::1", 80)),
    ],
)
def test_a_request_is_read_in_any_pieces(data: bytes, expected: tuple[str, int], size: int) -> None:
    assert place(read(data, size)[0]) == expected


def test_a_plain_request_names_the_host_that_was_allowed() -> None:
    headers = b"Host: b.org\r\nProxy-Authorization: x\r\nA: 1\r\nConnection: keep-alive"
    data = b"POST http://a.org/x HTTP/1.1\r\n%s\r\n\r\nbody" % headers
    request, _ = read(data)
    assert request is not None
    assert request.forward == b"POST /x HTTP/1.1\r\nHost: a.org\r\nA: 1\r\nConnection: close\r\n\r\nbody"
    assert request.accepted() == b""


def test_what_follows_a_tunnel_s_request_goes_to_the_host() -> None:
    request, _ = read(b"CONNECT a.org:443 HTTP/1.1\r\n\r\nhello")
    assert request is not None
    assert request.forward == b"hello"
    assert request.accepted().startswith(b"HTTP/1.1 200 ")
    assert request.refused("no").startswith(b"HTTP/1.1 403 ")


def test_socks_is_greeted_and_answered_in_its_own_way() -> None:
    request, answer = read(NAME)
    assert answer == b"\x05\x00"
    assert request is not None
    assert request.accepted()[:2] == b"\x05\x00"
    assert request.refused("no")[:2] == b"\x05\x02"
    assert request.failed("no")[:2] == b"\x05\x04"


@pytest.mark.parametrize(
    "data",
    [
        b"GET /path HTTP/1.1\r\nHost: a.org\r\n\r\n",
        b"GET https://a.org/ HTTP/1.1\r\n\r\n",
        b"CONNECT a.org HTTP/1.1\r\n\r\n",
        b"CONNECT a.org:99999 HTTP/1.1\r\n\r\n",
        b"CONNECT a\xc3\xa4.org:443 HTTP/1.1\r\n\r\n",
        b"CONNECT user@a.org:443 HTTP/1.1\r\n\r\n",
        b"GET http://user@a.org/ HTTP/1.1\r\n\r\n",
        b"GET http://a.org/ HTTP/1.1\r\nA : b\r\n\r\n",
        b"GET http://a.org/ HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
        b"GET http://a.org/ HTTP/2\r\n\r\n",
        b"\x16\x03\x01 a hello of TLS \r\n\r\n",
        b"\x04\x01\x00\x50\x7f\x00\x00\x01\x00\r\n\r\n",
        b"\x05\x01\x02",
        SOCKS + b"\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x50",
        SOCKS + b"\x05\x03\x00\x01\x7f\x00\x00\x01\x00\x50",
        SOCKS + b"\x05\x01\x00\x09\x7f\x00\x00\x01\x00\x50",
        SOCKS + b"\x05\x01\x00\x03\x00\x00\x50",
        b"A" * (MOST_HEAD_BYTES + 1),
    ],
)
def test_what_is_not_understood_is_refused_with_an_answer(data: bytes) -> None:
    with pytest.raises(ProxyError) as raised:
        read(data)
    assert raised.value.answer


@given(st.lists(st.binary(max_size=200), max_size=20), st.sampled_from([b"", SOCKS, b"CONNECT ", b"GET http://"]))
def test_no_input_does_anything_else(pieces: list[bytes], first: bytes) -> None:
    reader = ProxyReader()
    with contextlib.suppress(ProxyError):
        for piece in [first, *pieces]:
            request, _ = reader.feed(piece)
            if request is not None:
                assert request.host == request.host.lower()
                assert 0 <= request.port < 65536
                break


def test_a_client_that_has_greeted_by_socks_is_not_read_as_http() -> None:
    """Fuzzing found it: what came after the greeting in another piece was taken for a request of HTTP."""
    reader = ProxyReader()
    assert reader.feed(SOCKS) == (None, b"\x05\x00")
    with pytest.raises(ProxyError, match="only connections by TCP"):
        reader.feed(b"CONNECT example.org:443 HTTP/1.1\r\n\r\n")
