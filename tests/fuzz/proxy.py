"""The proxy of a sandbox: a request is the same in any chunks, and other bytes are refused by ProxyError only."""

import atheris
from harness import instrumented, pieces, start

with instrumented():
    from nacre.warden.proxy_protocol import ProxyError, ProxyReader

BEGINS = (
    b"",
    b"CONNECT example.org:443 HTTP/1.1\r\n",
    b"GET http://example.org/ HTTP/1.1\r\n",
    b"\x05\x01\x00\x05\x01\x00",
    b"\x05\x01\x00\x05\x01\x00\x03\x0b",
    b"\x04\x01",
)


def outcome(parts: list[bytes]) -> tuple[object, ...]:
    """The request, or why it is refused, and what the client was answered meanwhile."""
    reader, answered = ProxyReader(), b""
    try:
        for part in parts:
            request, answer = reader.feed(part)
            answered += answer
            if request is not None:
                assert 0 <= request.port < 65536
                assert request.host
                return request.host, request.port, request.is_socks, request.is_tunnel, answered
    except ProxyError as error:
        return str(error), type(error.answer)
    return (answered,)


def one_input(data: bytes) -> None:
    provider = atheris.FuzzedDataProvider(data)
    begin = BEGINS[provider.ConsumeIntInRange(0, len(BEGINS) - 1)]
    sent = begin + provider.ConsumeBytes(300)
    if provider.ConsumeBool():
        sent += b"\r\n\r\n"
    assert outcome(pieces(provider, sent)) == outcome([sent])


if __name__ == "__main__":
    start(one_input)
