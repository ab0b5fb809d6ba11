"""The `read` companion: reads the full output of a command whose answer showed only part of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nacre.artifacts.openings import note_opening
from nacre.contracts.companions import read_schema
from nacre.contracts.companions.output_reading import decode_selector, read
from nacre.contracts.companions.reading_schema import FIELDS
from nacre.contracts.contract import Companion, Reply, SchemaContext
from nacre.contracts.fields import MOST, arguments_of
from nacre.errors import InvalidRequestError, shown
from nacre.request import Owner

if TYPE_CHECKING:
    from nacre.engine.engine import Engine

SCHEME = "artifact://"


class ReadTool(Companion):
    """The companion `read`."""

    def schema(self, context: SchemaContext) -> dict[str, Any]:
        return read_schema.schema(context)

    async def answer(self, engine: Engine, arguments: object, owner: Owner) -> Reply:
        fields = {
            name: value
            for name, value in arguments_of(arguments, known=["uri", "id", *FIELDS]).items()
            if value is not None
        }
        number = _artifact_of(fields)
        selector = decode_selector(fields, engine.settings.output.inline_bytes)
        with engine.artifacts.open(number) as artifact:
            growing = artifact.entry.state == "writing"
            if artifact.entry.kind == "bash-original":
                note_opening(engine.state_dir, number)
            uri = f"{SCHEME}{number}"
            notices = ("its writer died: this is what it had written",) if artifact.entry.state == "interrupted" else ()
            reply = await read(
                artifact,
                selector,
                growing=growing,
                plainly="beginning",
                notices=notices,
            )
        return Reply(text=reply.text, is_error=False, details={"id": str(number), "uri": uri, **reply.details})


def _artifact_of(fields: Mapping[str, Any]) -> int:
    if ("uri" in fields) == ("id" in fields):
        raise InvalidRequestError("give exactly one of 'uri' (artifact://3) and 'id' (3)", field="uri")
    name = "uri" if "uri" in fields else "id"
    value = fields[name]
    number = value
    if isinstance(value, str):
        text = value.removeprefix(SCHEME)
        number = int(text) if len(text) < len(str(MOST)) and text.isascii() and text.isdigit() else None
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= MOST:
        raise InvalidRequestError(
            f"field '{name}' must name an artifact, as artifact://3 or 3, got {shown(value)}", field=name
        )
    return number
