"""What the page asks the server for: its files, the live events, outputs, and what a person does."""

from __future__ import annotations

import json
import mimetypes
import time
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any, cast, get_args

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nacre.errors import InvalidRequestError, NacreError
from nacre.feed.follower import Decision
from nacre.http_server.timing import App
from nacre.web.activity import RANGES
from nacre.web.event_stream import EventStream, revision_of
from nacre.web.output_pages import output_page
from nacre.web.page_state import PageState

FILES = ("index.html", "app.js", "cards.js", "chart.js", "dom.js", "icon.svg", "jobs.js", "mouse.js", "outputs.js",
         "questions.js", "still.js", "style.css", "terminal.js", "wire.js")  # fmt: skip
# A paste of this size is typed at once by no person.
BODY_BYTES = 256 * 1024
LEAST_COLUMNS, MOST_COLUMNS = 20, 400

Endpoint = Callable[[PageState, Request], Awaitable[Any]]


def routes_of(state: PageState, page: str) -> Starlette:
    """Return the application that serves the page at a path."""

    def route(path: str, endpoint: Endpoint, method: str) -> Route:
        async def answer(request: Request) -> Any:
            try:
                found = await endpoint(state, request)
            except InvalidRequestError as error:
                return JSONResponse({"error": str(error)}, status_code=400)
            except NacreError as error:
                return JSONResponse({"error": str(error)}, status_code=409)
            except ClientDisconnect:
                return Response(status_code=400)
            return found if callable(found) else JSONResponse(found)

        return Route(page + path, answer, methods=[method])

    async def file(request: Request) -> Response:
        return file_response(request.path_params.get("name", "index.html"))

    app = Starlette(
        routes=[
            Route(page, file, methods=["GET"]),
            route("api/events", events, "GET"),
            route("api/output/{kind}/{name}", output, "GET"),
            route("api/activity", activity, "GET"),
            route("api/calls/{call}/stop", stop, "POST"),
            route("api/calls/{call}/decide", decide, "POST"),
            route("api/calls/{call}/answer", answer_prompt, "POST"),
            route("api/terminals/{job}/events", terminal_events, "GET"),
            route("api/terminals/{job}/input", terminal_input, "POST"),
            Route(page + "{name}", file, methods=["GET"]),
        ]
    )
    app.router.redirect_slashes = False
    return app


def file_response(name: str) -> Response:
    """Return a file of the page; raises HTTPException for any other."""
    if name not in FILES:
        raise HTTPException(404)
    data = resources.files("nacre.web").joinpath("static", name).read_bytes()
    return Response(data, media_type=mimetypes.guess_type(name)[0] or "application/octet-stream")


# What a person sees.


async def events(state: PageState, request: Request) -> App:
    columns = _number(request, "columns", 80, LEAST_COLUMNS, MOST_COLUMNS)
    revision = revision_of(request.headers.get("last-event-id"), state.epoch)
    return EventStream(state.events(revision, columns=columns))


async def output(state: PageState, request: Request) -> dict[str, Any]:
    kind, name = request.path_params["kind"], request.path_params["name"]
    if kind not in ("call", "job", "artifact"):
        raise InvalidRequestError(f"an output is of a call, a job or an artifact, not of {kind!r}", field="kind")
    offset = _number(request, "offset", 0, -1, 1 << 62)
    card = state.calls.get(name) if kind == "call" else None
    return output_page(kind, name, offset, card=card, artifacts=state.artifacts, jobs=state.jobs.table)


async def activity(state: PageState, request: Request) -> dict[str, Any]:
    name = request.query_params.get("range", "hour")
    if name not in RANGES:
        raise InvalidRequestError(f"range must be one of {', '.join(RANGES)}, got {name!r}", field="range")
    now = time.time()
    problem = await state.activity.update(now)
    return {**state.activity.bars(name, now), "problem": problem}


async def terminal_events(state: PageState, request: Request) -> App:
    frames = state.terminal_events(request.path_params["job"])
    # Opened before the answer begins, so that a job without a terminal is an error and no empty stream.
    return EventStream(frames, first=await anext(frames))


# What a person does.


async def stop(state: PageState, request: Request) -> dict[str, Any]:
    return _reached(state.calls.stop(request.path_params["call"]))


async def decide(state: PageState, request: Request) -> dict[str, Any]:
    body = await _body(request)
    decision, question = body.get("decision"), body.get("question")
    if decision not in get_args(Decision) or not isinstance(question, str):
        raise InvalidRequestError("decision must be once, session, always or deny, with its question", field="decision")
    return _reached(state.calls.decide(request.path_params["call"], question, cast("Decision", decision)))


async def answer_prompt(state: PageState, request: Request) -> dict[str, Any]:
    text = (await _body(request)).get("text")
    if not isinstance(text, str):
        raise InvalidRequestError("text must be a string", field="text")
    return _reached(state.calls.answer(request.path_params["call"], text))


async def terminal_input(state: PageState, request: Request) -> dict[str, Any]:
    items = (await _body(request)).get("input")
    terminal = state.terminals.get(request.path_params["job"])
    await terminal.take(items if isinstance(items, list) else [items])
    return {"ok": True}


def _reached(reached: bool) -> dict[str, Any]:
    if not reached:
        raise NacreError("it has ended, was answered elsewhere, or its program is gone")
    return {"ok": True}


async def _body(request: Request) -> dict[str, Any]:
    """Return the object that a person's browser has sent; its values are in no error, as they may be hidden."""
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > BODY_BYTES:
            raise InvalidRequestError(f"a request has at most {BODY_BYTES} bytes", field="body")
    try:
        body = json.loads(data or b"{}")
    except ValueError as error:
        raise InvalidRequestError("the body must be JSON", field="body") from error
    if not isinstance(body, dict):
        raise InvalidRequestError("the body must be an object", field="body")
    return body


def _number(request: Request, name: str, default: int, least: int, most: int) -> int:
    text = request.query_params.get(name, "")
    try:
        return min(most, max(least, int(text[:20]))) if text else default
    except ValueError as error:
        raise InvalidRequestError(f"{name} must be a number, got {text!r}", field=name) from error
