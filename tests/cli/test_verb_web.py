"""`nacre web` prints its address with the token, warns beyond loopback, and ends quietly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

PATIENCE_SECONDS = 30.0


@contextmanager
def web(*arguments: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    server = subprocess.Popen(
        [sys.executable, "-m", "nacre", "web", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **variables},
    )
    try:
        yield server
    finally:
        server.kill()
        server.communicate(timeout=PATIENCE_SECONDS)


def test_the_address_opens_the_page_and_an_interruption_ends_the_server_quietly() -> None:
    with web() as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(address, timeout=PATIENCE_SECONDS) as page:
            assert "token" not in page.url
            assert b"<title>nacre</title>" in page.read()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            opener.open(f"{address}x", timeout=PATIENCE_SECONDS)
        server.send_signal(signal.SIGINT)
        assert server.wait(PATIENCE_SECONDS) == 0
        assert server.communicate() == ("", "")


def test_the_token_may_be_given_and_a_weak_one_is_refused() -> None:
    with web(NACRE_WEB_TOKEN="a-token-that-is-long-enough") as server:
        assert server.stdout is not None
        assert server.stdout.readline().endswith("/?token=a-token-that-is-long-enough\n")
    with web(NACRE_WEB_TOKEN="short") as server:
        _, problem = server.communicate(timeout=PATIENCE_SECONDS)
        assert "NACRE_WEB_TOKEN must have at least 16 letters" in problem
        assert "short" not in problem


def test_an_address_that_others_reach_comes_with_a_warning() -> None:
    with web("--host", "0.0.0.0") as server:
        assert server.stdout is not None
        assert server.stderr is not None
        assert "/?token=" in server.stdout.readline()
        assert "nothing is encrypted" in server.stderr.readline()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--port", "70000"), "--port must be from 0 to 65535, got 70000"),
        (("--host", "no-such-host.invalid"), "--host: 'no-such-host.invalid' cannot be found"),
    ],
)
def test_an_address_that_cannot_be_had_is_named(arguments: tuple[str, ...], problem: str) -> None:
    with web(*arguments) as server:
        _, said = server.communicate(timeout=PATIENCE_SECONDS)
        assert problem in said
        assert server.returncode != 0
