"""Recognises secrets by the shape of a value, under any name.

Shapes are addresses with a password, key blocks, signed tokens, authorization headers, connection strings and provider
tokens. Randomness is never a reason: commit ids, UUIDs and store hashes look random and must stay.
"""

from __future__ import annotations

import re

from nacre.environment.secret_names import words
from nacre.environment.token_shapes import token_label

# Patterns are compiled at first use, after a cheap test for a substring that each requires: most environments need few,
# and compiling all takes longer than starting a shell.

# Both match only at the beginning of a run of their first characters; otherwise they would take quadratic time.
URL_PASSWORD = r"(?<![A-Za-z0-9+.-])[0-9+.-]*[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#:@]*:([^\s/?#@]+(?:@[^\s/?#@]+)*)@[^\s@]"
# user:password@host:port and Go's user:password@tcp(host) have no scheme.
BARE_PASSWORD = r"(?<![^\s:/@])[^\s:/@]+:([^\s:/@]+)@(?:(?!sha\d)[\w.-]+:\d+(?:/|$)|(?:tcp|unix)\()"
PRIVATE_KEY = r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY|PuTTY-User-Key-File-"
ENCODED_BLOCK = "LS0tLS1CRUdJTi"
JWT = r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]*"
HEADER = r"""(?ix) (?<![\w-]) (?:(?:proxy-)?authorization|x-api-key|api-key|x-auth-token|private-token|dd-api-key
    |x-honeycomb-team) \s*[:=]\s* ["']? ([^\s"',;]+(?:[ ][^\s"',;]+)?)"""
SCHEME = r"(?i)\s*(bearer|basic)\s+([A-Za-z0-9._~+/=-]{6,})\s*"
CONNECTION = r"""(?ix) (?: (?:password|passwd|passphrase|accountkey|sharedaccesskey|sharedaccesssignature|secretkey
        |secretaccesskey|client_?secret) | (?<![A-Za-z]) pwd )
    \s*=\s* ["']? ([^\s;&"']+)"""
QUERY = r"""(?ix) [?&] (?:access_?token|auth_?token|token|api_?key|apikey|sig|x-amz-signature|secret|client_secret)
    = ([^\s&#"']{8,})"""
JSON_FIELD = r"""(?x) " (?:password|passwd|client_secret|private_key|access_token|refresh_token|auth_token|api_?key
    |secret|secret_key|secretAccessKey|SecretAccessKey|auth) " \s*:\s* "([^"]{3,})" """
SERVICE_ACCOUNT = r'"type"\s*:\s*"(?:service_account|authorized_user|external_account)"'
WEBHOOK = (
    r"hooks\.slack\.com/(?:services|workflows|triggers)/\w|discord(?:app)?\.com/api/webhooks/\d+/\S"
    r"|\.webhook\.office\.com/\S"
)
# Tokens that begin with an id instead of a prefix: Telegram's `id:AA…` and Discord's three parts, the first of which is
# a long number in base64.
BOT_TOKEN = (
    r"(?<![A-Za-z0-9])(?:[0-9]{6,12}:AA[A-Za-z0-9_-]{33}"
    r"|(?:mfa\.[A-Za-z0-9_-]{60,}|[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}))(?![A-Za-z0-9_-])"
)
NOT_A_PASSWORD = words("true false yes no on off 0 1 none null required optional prompt ask")


def value_reason(value: str) -> str | None:
    """Return the reason why a value is a secret; None if it is not."""
    if len(value) < 8:
        return None
    if "@" in value and (re.search(URL_PASSWORD, value) or re.match(BARE_PASSWORD, value)):
        return "address with a password"
    if (("KEY" in value or "Key" in value) and re.search(PRIVATE_KEY, value)) or is_encoded_private_key(value):
        return "private key"
    if "eyJ" in value and re.search(JWT, value):
        return "signed token (JWT)"
    if is_authorization(value):
        return "authorization header"
    if "=" in value and any(match[1].lower() not in NOT_A_PASSWORD for match in re.finditer(CONNECTION, value)):
        return "connection string with a password"
    if "://" in value and re.search(QUERY, value):
        return "address with a credential in its query"
    if value.lstrip().startswith(("{", "[")) and (re.search(JSON_FIELD, value) or re.search(SERVICE_ACCOUNT, value)):
        return "JSON with a credential"
    if "hook" in value and re.search(WEBHOOK, value):
        return "webhook address"
    if (":AA" in value or value.count(".") >= 2 or "mfa." in value) and re.search(BOT_TOKEN, value):
        return "bot token"
    label = token_label(value)
    return f"known token format ({label})" if label else None


def is_encoded_private_key(value: str) -> bool:
    if not value.startswith(ENCODED_BLOCK):
        return False
    decoded = decoded_base64(value[:64])
    return decoded is not None and re.match(PRIVATE_KEY, decoded.decode("latin-1")) is not None


def is_authorization(value: str) -> bool:
    header = re.search(HEADER, value) if ":" in value or "=" in value else None
    if header and len(header[1]) >= 8:
        return True
    match = re.fullmatch(SCHEME, value) if len(value.split()) == 2 else None
    if not match:
        return False
    scheme, credential = match[1].lower(), match[2]
    # "Basic Training" and "Bearer authentication" are words; a credential has a digit, a sign or mixed case, or more
    # than twenty letters.
    if len(credential) > 20 or re.search(r"[0-9=+/._~-]", credential) or re.search(r"[a-z][A-Z]", credential):
        return True
    return scheme == "basic" and is_encoded_pair(credential)


def is_encoded_pair(credential: str) -> bool:
    decoded = decoded_base64(credential)
    return decoded is not None and b":" in decoded


def decoded_base64(text: str) -> bytes | None:
    # Imported here, because few environments need it.
    import base64

    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return None


def proxy_password(value: str) -> str | None:
    """Return the password in the address of a proxy, with or without a scheme."""
    match = re.search(r"(?:^|//)[^\s/?#:@]*:([^\s/]+)@", value)
    return match[1] if match else None


def embedded_secrets(value: str) -> list[str]:
    """Return the parts of a longer value that are secret: a password in an address, the credential of a header."""
    found: list[str] = []
    for pattern in (URL_PASSWORD, BARE_PASSWORD, CONNECTION, QUERY, JSON_FIELD):
        found += [match[1] for match in re.finditer(pattern, value)]
    if scheme := re.fullmatch(SCHEME, value):
        found.append(scheme[2])
    if header := re.search(HEADER, value):
        found.append(header[1].split(" ")[-1])
    return [part for part in found if part != value]
