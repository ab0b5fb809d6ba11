"""The redactor: no chunking changes what is shown, and none reveals a value."""

import atheris
from harness import instrumented, pieces, start

with instrumented():
    from nacre.output.redaction.forms import is_worth_hiding
    from nacre.output.redaction.redactor import Redactor

VALUES = ("hunter2-hunter2", "abcabcabcab", "line one\nline two is long", "p@ss/wörd+%20'x", "aaaaaaaaaaaaaaaa")


def one_input(data: bytes) -> None:
    provider = atheris.FuzzedDataProvider(data)
    chosen = [VALUES[provider.ConsumeIntInRange(0, len(VALUES) - 1)]]
    own = provider.ConsumeUnicodeNoSurrogates(24).replace("\0", "")
    secrets = {f"S{number}": value for number, value in enumerate([*chosen, own]) if is_worth_hiding(value)}
    redactor, whole = Redactor(secrets), Redactor(secrets)
    forms = [form for _, form in redactor.to_forms()]
    text = b""
    for _ in range(provider.ConsumeIntInRange(0, 8)):
        kind = provider.ConsumeIntInRange(0, 3)
        form = forms[provider.ConsumeIntInRange(0, len(forms) - 1)] if forms else b""
        cut = provider.ConsumeIntInRange(0, len(form))
        text += (form, form[:cut], form[:cut] + b"\n" + form[cut:], provider.ConsumeBytes(8))[kind]
    shown = b"".join(redactor.feed(part) for part in pieces(provider, text)) + redactor.flush()
    assert shown == whole.feed(text) + whole.flush(), "the chunks changed what is shown"
    left = shown
    for name in secrets:
        left = left.replace(f"[redacted:{name}]".encode(), b"\0")
    assert not any(form in left for form in forms), "a value was revealed"


if __name__ == "__main__":
    start(one_input)
