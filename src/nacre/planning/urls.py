"""Internal URLs in what a model wrote: `artifact://3`, `local://notes.md`, `skill://name/file` become paths.

In a command a URL that is a word, bare or quoted as a whole, becomes a single-quoted absolute path; in a value it
becomes the bare path. A URL in the middle of a quoted text, a comment or a here-document stays as it is. This module
touches no file: the resolver that is registered for a scheme does, and it checks containment.
"""

from __future__ import annotations

import re
from typing import Literal, Protocol
from urllib.parse import unquote

from nacre.bash.quoting import stretches
from nacre.errors import InvalidRequestError

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*\Z")
# Models often write one slash after this scheme.
ONE_SLASH = "local"


class UnresolvedUrlError(Exception):
    """A URL cannot be resolved; the message says why, and what exists."""


class Resolver(Protocol):
    def __call__(self, rest: str, *, make_parents: bool) -> str:
        """Return the absolute path for the text after `scheme://`; raises UnresolvedUrlError.

        With `make_parents` the resolver creates the directory of the file.
        """


class UrlRouter:
    """The known schemes, each with its resolver."""

    def __init__(self) -> None:
        self._resolvers: dict[str, Resolver] = {}
        self._bare: re.Pattern[str] | None = None
        self._whole: re.Pattern[str] | None = None

    def register(self, scheme: str, resolver: Resolver) -> None:
        """Add a scheme, or replace its resolver."""
        if not _SCHEME.match(scheme):
            raise ValueError(f"a URL scheme is made of a-z, 0-9, '+', '.' and '-', not {scheme!r}")
        self._resolvers[scheme] = resolver
        names = "|".join(re.escape(name) for name in sorted(self._resolvers, key=len, reverse=True))
        slashes = f"(?:{names})://|{ONE_SLASH}:/(?!/)" if ONE_SLASH in self._resolvers else f"(?:{names})://"
        self._bare = re.compile(rf"(?<![\w./\\+-])(?:{slashes})[^\s'\"`)\\;&|<>($]*")
        self._whole = re.compile(rf"(?:{slashes})[^\s'\"`)\\]*")

    @property
    def schemes(self) -> tuple[str, ...]:
        return tuple(sorted(self._resolvers))

    @property
    def bare(self) -> re.Pattern[str] | None:
        """A URL in unquoted text."""
        return self._bare

    @property
    def whole(self) -> re.Pattern[str] | None:
        """A URL that is all of a quoted text."""
        return self._whole

    def resolve(self, url: str, *, make_parents: bool) -> str:
        """Return the absolute path of a URL; raises UnresolvedUrlError."""
        scheme, _, rest = url.partition(":")
        rest = rest.removeprefix("/").removeprefix("/")
        path = self._resolvers[scheme](rest, make_parents=make_parents)
        # The text after the URL may continue the path: local://dir/$name.
        return f"{path}/" if url.endswith("/") and not path.endswith("/") else path


def expand_command(text: str, router: UrlRouter) -> str:
    """Return a script with its URLs replaced by quoted paths.

    Raises:
        InvalidRequestError: a URL that is a bare word cannot be resolved.
    """
    if not _may_hold_urls(text) or router.bare is None or router.whole is None:
        return text
    plain, quoted = stretches(text)
    edits: list[tuple[int, int, str]] = []
    for start, end in plain:
        for found in router.bare.finditer(text, start, end):
            edits.append((found.start(), found.end(), _quote(_resolved(found[0], router, field="command"))))
    for start, end in quoted:
        url = text[start + 1 : end - 1]
        if router.whole.fullmatch(url) and not (text[start] == '"' and "$" in url):
            try:
                edits.append((start, end, _quote(router.resolve(url, make_parents=True))))
            except UnresolvedUrlError:
                # A quoted text that only looks like a URL: a pattern, a message.
                continue
    for start, end, path in sorted(edits, reverse=True):
        text = text[:start] + path + text[end:]
    return text


def expand_value(text: str, router: UrlRouter, *, purpose: Literal["env", "cwd"] = "env") -> str:
    """Return a variable's value or a directory with its URLs replaced by paths.

    Raises:
        InvalidRequestError: the whole text is a URL that cannot be resolved.
    """
    if not _may_hold_urls(text) or router.bare is None or router.whole is None:
        return text
    parents = purpose == "env"
    if router.whole.fullmatch(text):
        return _resolved(text, router, field=purpose, make_parents=parents)

    def replace(found: re.Match[str]) -> str:
        try:
            return router.resolve(found[0], make_parents=parents)
        except UnresolvedUrlError:
            return found[0]

    return router.bare.sub(replace, text)


def relative_path(text: str) -> str:
    """Return the path that a URL spells: percent-decoded, with slashes, relative, without `..`.

    Raises:
        UnresolvedUrlError: the path leads out of its root.
    """
    path = unquote(text, errors="surrogateescape").replace("\\", "/")
    if "\0" in path:
        raise UnresolvedUrlError("a path cannot hold a NUL character")
    if path.startswith("/"):
        raise UnresolvedUrlError(f"{path!r} is absolute; give a path below the root")
    if ".." in path.split("/"):
        raise UnresolvedUrlError(f"{path!r} leads out of its root: '..' is refused")
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def _may_hold_urls(text: str) -> bool:
    return "://" in text or f"{ONE_SLASH}:/" in text


def _resolved(url: str, router: UrlRouter, *, field: str, make_parents: bool = True) -> str:
    try:
        return router.resolve(url, make_parents=make_parents)
    except UnresolvedUrlError as error:
        raise InvalidRequestError(f"field '{field}' holds {url}, which leads nowhere: {error}", field=field) from error


def _quote(path: str) -> str:
    return "'" + path.replace("'", "'\\''") + "'"
