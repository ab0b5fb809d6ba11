"""Reports of a session's shell: whole in any chunks, and no bytes before, between or after them are taken for one."""

import atheris
from harness import instrumented, pieces, start

with instrumented():
    from nacre.sessions.framing import ReportReader, TurnReport

NONCE = "n0123abcdx7"


def report(parts: list[bytes]) -> TurnReport | None:
    reader = ReportReader()
    reader.expect(NONCE)
    for part in parts:
        if (found := reader.feed(part)) is not None:
            return found
    return None


def one_input(data: bytes) -> None:
    provider = atheris.FuzzedDataProvider(data)
    edge = NONCE.encode("ascii") + b"\0"
    noise = provider.ConsumeBytes(64).replace(NONCE.encode("ascii"), b"")
    assert report(pieces(provider, noise)) is None

    codes = [provider.ConsumeIntInRange(0, 255) for _ in range(provider.ConsumeIntInRange(1, 4))]
    path = "/" + provider.ConsumeBytes(20).replace(b"\0", b"").decode("utf-8", "surrogateescape")
    fields = [" ".join(map(str, codes)), "17", "", path]
    sent = edge + "\0".join(fields).encode("utf-8", "surrogateescape") + b"\0" + edge
    found = report(pieces(provider, sent))
    assert found == TurnReport(tuple(codes), "17", "", path.removesuffix("\n"))

    # What stands between the edges may be anything: a report or none, never an exception.
    report([edge + provider.ConsumeBytes(200) + b"\0" + edge])


if __name__ == "__main__":
    start(one_input)
