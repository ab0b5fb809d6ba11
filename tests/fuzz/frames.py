"""The warden's wire: what was framed comes out whole in any chunks, and other bytes are refused by FrameError only."""

import atheris
from harness import instrumented, pieces, start

with instrumented():
    from nacre.warden.protocol import FrameError, FrameReader, frame


def outcome(parts: list[bytes]) -> tuple[list[dict[str, object]], str]:
    frames, messages = FrameReader(), []
    try:
        for part in parts:
            messages += frames.events(part)
    except FrameError as error:
        return messages, str(error)
    return messages, ""


def os_text(provider: atheris.FuzzedDataProvider) -> str:
    """Text as the system gives it: bytes that are not UTF-8 become lone low surrogates, never pairs."""
    return provider.ConsumeBytes(16).decode("utf-8", "surrogateescape")


def one_input(data: bytes) -> None:
    provider = atheris.FuzzedDataProvider(data)
    messages = [
        {os_text(provider): os_text(provider), "n": provider.ConsumeInt(8), "event": "x"}
        for _ in range(provider.ConsumeIntInRange(0, 4))
    ]
    sent = b"".join(map(frame, messages))
    assert outcome(pieces(provider, sent)) == (messages, "")

    body = provider.ConsumeBytes(200)
    noise = len(body).to_bytes(4, "big") + body if provider.ConsumeBool() else body
    # Which messages come before an error depends on the chunks; whether there is one does not.
    assert outcome(pieces(provider, noise))[1] == outcome([noise])[1]


if __name__ == "__main__":
    start(one_input)
