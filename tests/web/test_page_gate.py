"""The page opens with its token and for itself only: no other page, name or program of this machine reaches it."""

from __future__ import annotations

import pytest

from nacre.web.page_gate import COOKIE, HEADERS, Gate, is_own_host, is_same_origin, own_hosts
from web.serving import TOKEN, page_server

READS = ("api/activity", "api/output/call/x", "api/events", "api/terminals/bg_1/events")
WRITES = ("api/calls/x/stop", "api/calls/x/decide", "api/calls/x/answer", "api/terminals/bg_1/input")


async def test_the_token_is_exchanged_for_a_cookie_and_leaves_the_address() -> None:
    async with page_server() as page:
        entered = await page.get(f"/?token={TOKEN}", Cookie=None, Origin=None, Sec_Fetch_Site="none")
        assert (entered.status, entered.headers["location"]) == (303, page.gate.page)
        cookie, *rest = entered.headers["set-cookie"].split("; ")
        assert cookie == f"{COOKIE}={page.gate.cookie}"
        assert rest == [f"Path={page.gate.page}", "HttpOnly", "SameSite=Strict"]
        assert TOKEN not in page.gate.page + page.gate.cookie
        shown = await page.get(page.gate.page, Cookie=cookie, Origin=None)
        assert (shown.status, b"<title>nacre</title>" in shown.body) == (200, True)
        assert TOKEN.encode() not in shown.body


@pytest.mark.parametrize(
    "query", ["?token=wrong", "?token=", "?token=the-token-of-this-tes", f"?token=x&token={TOKEN}", "?x"]
)
async def test_a_wrong_token_is_refused(query: str) -> None:
    async with page_server() as page:
        answer = await page.get(f"/{query}", Cookie=None, Origin=None, Sec_Fetch_Site="none")
    assert (answer.status, "set-cookie" in answer.headers) == (403, False)
    assert b"the token is wrong" in answer.body


async def test_without_a_token_the_answer_says_what_to_open() -> None:
    async with page_server() as page:
        answer = await page.get("/", Cookie=None)
    assert answer.status == 401
    assert b"Open the whole address that `nacre web` printed" in answer.body


@pytest.mark.parametrize("cookie", [None, f"{COOKIE}=", f"{COOKIE}=wrong", f"other={TOKEN}", f"{COOKIE}={TOKEN}"])
async def test_data_needs_the_cookie(cookie: str | None) -> None:
    async with page_server() as page:
        for path in READS:
            assert (await page.get(path, Cookie=cookie)).status == 401
        for path in WRITES:
            assert (await page.post(path, {}, Cookie=cookie)).status == 401


OTHERS = [
    {"Origin": "http://evil.example"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site"},
]


@pytest.mark.parametrize("headers", OTHERS, ids=str)
async def test_requests_of_other_pages_are_refused_with_the_cookie_too(headers: dict[str, str]) -> None:
    async with page_server() as page:
        for path in READS:
            assert (await page.ask("GET", path, headers=dict(headers))).status == 403
        for path in WRITES:
            assert (await page.ask("POST", path, {}, headers=dict(headers))).status == 403


async def test_what_changes_something_tells_its_origin() -> None:
    async with page_server() as page:
        assert (await page.post("api/calls/x/stop", {}, Origin=None)).status == 403
        assert (await page.post("api/calls/x/stop", {}, Origin=None, Sec_Fetch_Site=None)).status == 403


async def test_a_name_that_was_made_to_lead_here_is_refused() -> None:
    async with page_server() as page:
        for host in ("evil.example", f"evil.example:{page.port}", "127.0.0.1.evil.example", "", "[::1"):
            answer = await page.get(f"/?token={TOKEN}", Host=host, Origin=None)
            assert answer.status in (400, 421)
        assert (await page.get(f"/?token={TOKEN}", Host=f"localhost:{page.port}", Origin=None)).status == 303


@pytest.mark.parametrize(
    "path", ["", "app.js", "style.css", "api/activity", "nothing", "/", "/?token=wrong", "/elsewhere"]
)
async def test_every_answer_forbids_foreign_parts_and_html(path: str) -> None:
    async with page_server() as page:
        answer = await page.get(path)
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    policy = answer.headers["content-security-policy"].split("; ")
    assert policy[:2] == ["default-src 'none'", "script-src 'self'"]
    assert "require-trusted-types-for 'script'" in policy
    assert not [one for one in policy if "unsafe" in one or "*" in one]


def test_hosts() -> None:
    names = own_hosts("0.0.0.0", ["Build.Example"])
    for host in ("localhost:80", "127.0.0.1", "10.1.2.3:99", "[::1]:8000", "build.example:1", "a.localhost"):
        assert is_own_host(host, names)
    for host in ("example", "build.example.evil", "localhost.evil", "", "[", "1.2.3"):
        assert not is_own_host(host, names)


def test_a_reading_request_of_no_page_is_the_person_s_own() -> None:
    assert is_same_origin({"sec-fetch-site": "none"}, "h:1", reads=True)
    assert is_same_origin({}, "h:1", reads=True)
    assert not is_same_origin({"sec-fetch-site": "none", "origin": "http://h:1"}, "h:1", reads=False)


def test_two_servers_share_neither_path_nor_cookie() -> None:
    first, second = Gate("t", frozenset()), Gate("t", frozenset())
    assert first.page != second.page
    assert not second.has_cookie(f"{COOKIE}={first.cookie}")
    assert second.has_cookie(f"a=b; {COOKIE}={second.cookie}")
    assert not second.has_cookie(f"{COOKIE}={second.cookie}; {COOKIE}={second.cookie}")
