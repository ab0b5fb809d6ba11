"""Recognises secrets by the names of variables.

Names are split into parts and compared whole, never searched as substrings: KEY must not match KEYBOARD, nor AUTH match
AUTHOR. A name is only a suspicion: a harmless value (a number, a switch, a public key) or a last part that marks a
pointer (`_FILE`, `_URL`) clears it. secret_values.py recognises secrets by their values.
"""

from __future__ import annotations

import re
from itertools import pairwise

PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
WORD = re.compile(r"[A-Za-z]+")


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Documented credentials, or pointers as good as one, that the rules below would miss or clear.
EXACT_NAMES = words(
    """
    MYSQL_PWD PGPASSWORD REDISCLI_AUTH SSHPASS COMPOSER_AUTH DOCKER_AUTH_CONFIG GOOGLE_APPLICATION_CREDENTIALS
    AWS_ACCESS_KEY_ID AWS_WEB_IDENTITY_TOKEN_FILE AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE AZURE_FEDERATED_TOKEN_FILE
    AZURE_CLIENT_CERTIFICATE_PATH AWS_CONTAINER_CREDENTIALS_FULL_URI AWS_CONTAINER_CREDENTIALS_RELATIVE_URI
    ACTIONS_ID_TOKEN_REQUEST_URL BW_SESSION AUTHORIZATION HTTP_AUTHORIZATION PROXY_AUTHORIZATION
    HTTP_PROXY_AUTHORIZATION ANTHROPIC_CUSTOM_HEADERS NPM_CONFIG__AUTH FASTLANE_SESSION IDENTITY_HEADER
    """
)
EXACT_SHAPES = re.compile(
    r"""OP_SESSION_.+
    | .*_OTLP(_[A-Z]+)?_HEADERS
    | NPM_CONFIG_.*:_AUTH
    | BUNDLE_(?!BUILD__|LOCAL__|MIRROR__)[A-Z0-9_]+__[A-Z0-9]+    # bundler writes a host's dots as double underscores
    """,
    re.VERBOSE,
)

SECRET_PARTS = words(
    """
    PASSWORD PASSWORDS PASSWD PASSPHRASE PASSPHRASES PASSCODE SECRET SECRETS TOKEN TOKENS CREDENTIAL CREDENTIALS CRED
    CREDS APIKEY APIKEYS AUTHTOKEN AUTHKEY BEARER COOKIE COOKIES DBPASS USERPASS ROOTPASS ADMINPASS SMTPPASS MAILPASS
    FTPPASS LDAPPASS PGPASS MYSQLPASS SQLPASS REDISPASS BINDPW BINDPASS
    """
)
# No other English words end like this, so GITHUBTOKEN and MYSQLPASSWORD are secrets.
SECRET_ENDINGS = (
    "PASSWORD", "PASSWD", "PASSPHRASE", "TOKEN", "APIKEY", "SECRETKEY", "ACCESSKEY", "PRIVATEKEY", "CLIENTSECRET",
)  # fmt: skip
SECRET_LAST_PARTS = frozenset({"PASS", "PWD", "PAT", "PW"})
# SEED alone is a seed of random numbers.
PHRASE_MAKERS = frozenset({"SEED", "RECOVERY", "BACKUP", "WALLET", "MNEMONIC", "PASS"})
KEY_PARTS = frozenset({"KEY", "KEYS"})
KEY_MAKERS = frozenset({"API", "ACCESS", "SECRET", "PRIVATE"})
PUBLIC_PARTS = frozenset({"PUBLIC", "PUBLISHABLE", "PUB"})

POINTER_PARTS = words(
    """
    FILE FILES FILENAME FILEPATH PATH PATHS DIR DIRS DIRECTORY FOLDER LOCATION URL URLS URI URIS ENDPOINT HOST HOSTNAME
    PORT ADDR ADDRESS SERVER DOMAIN SOCK SOCKET ARN REF REFERENCE ID IDS NAME NAMES USER USERNAME OWNER EMAIL ROLE
    ALIAS LABEL TYPE KIND CLASS MODE METHOD STRATEGY POLICY FORMAT ENCODING ALGORITHM ALG ALGO CIPHER ISSUER AUDIENCE
    SCOPE SCOPES REALM PREFIX SUFFIX HEADER FIELD PARAM COLUMN HELPER PROVIDER BACKEND STORE STORAGE MANAGER SOURCE
    PLUGIN DRIVER ENGINE SERVICE MODULE COMMAND CMD SCRIPT PROGRAM LIMIT LIMITS BUDGET COUNT LENGTH LEN SIZE BITS MAX
    MIN TTL AGE EXPIRY EXPIRATION EXPIRES LIFETIME DURATION TIMEOUT INTERVAL ROTATION VERSION REGION ZONE NAMESPACE
    ENABLED DISABLED REQUIRED CHECK CHECKING VALIDATION VERIFICATION SCANNING OPTIONS OPTS ARGS FLAGS PATTERN REGEX
    TEMPLATE PROMPT HINT PLACEHOLDER SYMBOL DECIMALS SAMESITE SECURE HTTPONLY JAR FINGERPRINT THUMBPRINT CHECKSUM
    PARALLELISM MODEL LANGUAGE CHARSET HASHER HASHERS ICON COLOR COLOUR DELIMITER SEPARATOR
    PERMISSION PERMISSIONS USAGE RATE PRICE COST WINDOW INDEX FREQUENCY PERIOD LEVEL STATUS BUCKET TABLE QUEUE TOPIC
    """
)
# These follow the part that matters: X_FILE_OVERRIDE is still a file.
TRAILING_PARTS = frozenset({"OVERRIDE", "DEFAULT"})
# A key of a table, cache, project or keyboard is no credential. The first group may stand anywhere in the name.
HARMLESS_WITH_KEY = words("SORT PRIMARY PARTITION FOREIGN CACHE")
HARMLESS_BEFORE_KEY = words(
    """
    UNIQUE SHARD COMPOSITE NATURAL SURROGATE JOIN LOOKUP RANGE CLUSTERING ORDERING DEDUP IDEMPOTENCY GROUPING OBJECT
    PROJECT ISSUE METADATA META LABEL TAG ANNOTATION TRANSLATION STATE HOT SHORTCUT MODIFIER LEADER
    """
)
HARMLESS_AFTER_KEY = words("VAULT BINDING BINDINGS MAP MAPPING MAPPINGS LAYOUT CODE CODES REPEAT PRESS DELAY")

# Compiled at first use: only the value of a suspicious name is examined.
SHORT_NUMBER = r"[+-]?\d{1,12}|[+-]?\d{1,8}[.,_]\d{1,6}|\d{1,8}(?:\.\d{1,3})?\s?(?:[kKMGT%smhd]|ms|min)"
SWITCHES = words("true false yes no on off y n t f enabled disabled enable disable none null nil")
PUBLIC_KEY = (
    r"ssh-(?:rsa|ed25519|dss) |ecdsa-sha2-\S+ |sk-(?:ssh|ecdsa)\S+ "
    r"|-----BEGIN (?:[A-Z0-9]+ )*PUBLIC KEY|-----BEGIN CERT|age1[a-z0-9]{20}"
)
FINGERPRINT = r"(?:0x)?(?:[0-9A-Fa-f]{40}|[0-9A-Fa-f]{16}|[0-9A-Fa-f]{8})"
UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
USER_AND_PASSWORD = r"[^\s:/]+:[^\s/]{3,}"
# A method of authentication is a word or a few; a credential has digits, mixed case or the signs of an encoding.
CREDENTIAL = (
    r"(?=\S*[0-9=+]|\S*[a-z]\S*[A-Z]|\S{16,})(?!(?:oauth|openid|saml|sha|scram|pbkdf|ldap|ntlm|tls|krb)[a-z0-9]*$)"
    r"(?![a-z][a-z0-9]*(?:[-_,. ][a-z0-9]+)+$)(?![a-z]+$)[^\s/:]{8,}"
)
# A run of letters and digits this long is neither a version nor a name.
IDENTIFIER_RUN = r"(?=.*[0-9])[A-Za-z0-9_-]*(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,}[A-Za-z0-9_-]*"
KEYED_ADDRESS = r"[a-z][a-z0-9+.-]*://[A-Za-z0-9]{16,}@\S+"
# Last parts that mark a secret only with a value of the right shape.
LONGEST_SHAPED = 256
VALUED_LAST_PARTS = {
    "AUTH": rf"{CREDENTIAL}|(?=.{{8}}){USER_AND_PASSWORD}",
    "SALT": rf"{CREDENTIAL}|[^\s/:]{{16,}}",
    "MNEMONIC": r"\S{8,}|\S+(?: +\S+){2,}",
    "DSN": KEYED_ADDRESS,
    "SID": IDENTIFIER_RUN,
    "API": IDENTIFIER_RUN,
}


def name_parts(name: str) -> list[str]:
    """Split on non-letters and camel case, in upper case: ``myApiToken`` gives MY, API, TOKEN."""
    return [part.upper() for part in PART.findall(name)]


def exact_reason(name: str) -> str | None:
    """Return the reason to remove a documented credential, for any value."""
    upper = name.upper()
    if upper in EXACT_NAMES or EXACT_SHAPES.fullmatch(upper):
        return "documented credential variable"
    return None


def name_reason(name: str, value: str) -> str | None:
    """Return the reason why the parts of a name mark a secret; None if the value clears it."""
    parts = name_parts(name)
    suspicion = suspicious_part(parts, value) or suspicious_part([word.upper() for word in WORD.findall(name)], value)
    if suspicion is None or is_switch_or_number(value):
        return None
    if suspicion == "PGPASS" and value.startswith(("/", "~", "./")):
        return None
    if not PUBLIC_PARTS.isdisjoint(parts):
        return None
    if is_pointer(parts, value):
        return None
    return f"name part {suspicion}"


def suspicious_part(parts: list[str], value: str) -> str | None:
    for part in parts:
        if part in SECRET_PARTS or part.endswith(SECRET_ENDINGS):
            return part
    last = parts[-1] if parts else ""
    if len(parts) > 1 and last in SECRET_LAST_PARTS and not (last == "PWD" and value.startswith("/")):
        return last
    if last in VALUED_LAST_PARTS and is_shaped(value, VALUED_LAST_PARTS[last]):
        return last
    for before, part in pairwise(parts):
        if (before in KEY_MAKERS and part in KEY_PARTS) or (before in PHRASE_MAKERS and part == "PHRASE"):
            return f"{before}_{part}"
    if "MNEMONIC" in parts and value.count(" ") >= 11:
        return "MNEMONIC"
    return suspicious_key(parts, value)


def is_shaped(value: str, pattern: str) -> bool:
    # The patterns take quadratic time; no such credential is longer.
    return len(value) <= LONGEST_SHAPED and re.fullmatch(pattern, value.strip()) is not None


def suspicious_key(parts: list[str], value: str) -> str | None:
    if KEY_PARTS.isdisjoint(parts) or len(value) < 8 or not HARMLESS_WITH_KEY.isdisjoint(parts):
        return None
    for before, after in pairwise(parts):
        if (after in KEY_PARTS and before in HARMLESS_BEFORE_KEY) or (
            before in KEY_PARTS and after in HARMLESS_AFTER_KEY
        ):
            return None
    if re.match(PUBLIC_KEY, value) or ({"GPG", "PGP"} & set(parts) and re.fullmatch(FINGERPRINT, value)):
        return None
    return "KEY"


def is_switch_or_number(value: str) -> bool:
    text = value.strip()
    return not text or text.lower() in SWITCHES or re.fullmatch(SHORT_NUMBER, text) is not None


def is_pointer(parts: list[str], value: str) -> bool:
    """True if the last part of the name describes where a secret is or how it is used."""
    while len(parts) > 1 and parts[-1] in TRAILING_PARTS:
        parts = parts[:-1]
    if not parts or parts[-1] not in POINTER_PARTS:
        return False
    # One half of a key pair and Vault's AppRole password are called ids.
    if parts[-3:] == ["ACCESS", "KEY", "ID"] and len(value) >= 16:
        return False
    return not (parts[-2:] == ["SECRET", "ID"] and re.fullmatch(UUID, value))
