"""A model's endpoint on loopback that calls the bash tool once with a command, and then repeats what it read."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def scripted_model(command: str) -> Iterator[str]:
    """Yield the base URL."""

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if asked.get("stream") else "application/json")
            self.end_headers()
            self.wfile.write(_answer(asked, command))

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _answer(asked: dict[str, Any], command: str) -> bytes:
    last = asked["messages"][-1]
    if last["role"] == "tool":
        message: dict[str, Any] = {"role": "assistant", "content": f"I read: {last['content']}"}
    else:
        call = {"name": "bash", "arguments": json.dumps({"command": command})}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": call}],
        }
    reason = "stop" if last["role"] == "tool" else "tool_calls"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    common = {"id": "x", "created": 1, "model": asked["model"]}
    if not asked.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return json.dumps({**common, "object": "chat.completion", "choices": [choice], "usage": usage}).encode()
    delta = {**message, "tool_calls": [{"index": 0, **one} for one in message.get("tool_calls", [])]}
    chunks = [
        {**common, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]},
        {**common, "choices": [], "usage": usage},
    ]
    lines = [json.dumps({**chunk, "object": "chat.completion.chunk"}) for chunk in chunks]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()
