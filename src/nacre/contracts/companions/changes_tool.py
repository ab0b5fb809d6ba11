"""The `changes` companion: lists what a try would change, and commits or discards it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from nacre.contracts.companions import changes_schema
from nacre.contracts.contract import Companion, Reply, SchemaContext
from nacre.contracts.fields import arguments_of, text_of
from nacre.daemon_thread import on_thread
from nacre.errors import InvalidRequestError, shown
from nacre.request import Owner
from nacre.tries.committing import Settled, commit, discard
from nacre.tries.report import counts_of, shown_lines, summary_of
from nacre.tries.try_store import TryEntry, TryError, TryStore
from nacre.wording import counted

if TYPE_CHECKING:
    from nacre.engine.engine import Engine

# Longer than a large commit takes, shorter than clients wait.
_SECONDS = 40.0

Paths = list[str] | Literal[True] | None


class ChangesTool(Companion):
    """The companion `changes`."""

    def schema(self, context: SchemaContext) -> dict[str, Any]:
        return changes_schema.schema(context)

    async def answer(self, engine: Engine, arguments: object, owner: Owner) -> Reply:
        # On wires whose messages have an `id` of their own it is called `try`.
        fields = arguments_of(arguments, known=["id", "try", "commit", "discard"])
        name = text_of(fields, "id") or text_of(fields, "try")
        if not name:
            raise InvalidRequestError("field 'id' is missing; it is the id of a try, e.g. try_1", field="id")
        chosen = {key: value for key in ("commit", "discard") if (value := _paths(fields, key)) is not None}
        if len(chosen) > 1:
            raise InvalidRequestError("give one of 'commit' and 'discard', not both", field="discard")
        entry = TryStore(engine.state_dir).get(name)
        try:
            if not chosen:
                return await on_thread(lambda: _listed(entry), _SECONDS)
            ((verb, paths),) = chosen.items()
            return await on_thread(lambda: _settled(entry, verb, paths, owner.directory), _SECONDS)
        except TimeoutError as error:
            raise TryError(f"{entry.id}: this takes longer than {_SECONDS:g} s; call again to go on") from error


def _paths(fields: Mapping[str, Any], name: str) -> Paths:
    value = fields.get(name)
    if value is None or value is False:
        return None
    if value is True:
        return True
    if isinstance(value, str) and value:
        # Where a model can only be asked for a text.
        return {"true": True, "false": None}.get(value.strip().lower(), [value])
    if isinstance(value, list) and value and all(isinstance(path, str) and path for path in value):
        return value
    raise InvalidRequestError(f"field '{name}' must be true or a list of paths, got {shown(value)}", field=name)


def _listed(entry: TryEntry) -> Reply:
    changes = [change for change in entry.changes() if not change.settled]
    lines = [f"{entry.id} ({entry.state}) in {entry.root}: {summary_of(changes)}", *shown_lines(changes)]
    return Reply(
        text="\n".join(lines), is_error=False, details={"id": entry.id, "state": entry.state, **counts_of(changes)}
    )


def _settled(entry: TryEntry, verb: str, paths: Paths, here: str) -> Reply:
    act = commit if verb == "commit" else discard
    settled = act(entry, None if paths is True else paths, here=here)
    details = {
        "id": entry.id,
        "state": entry.state,
        "done": len(settled.done),
        "left": len(settled.left),
        "conflicts": [conflict._asdict() for conflict in settled.conflicts],
    }
    return Reply(text=settled_text(entry, verb, settled), is_error=bool(settled.conflicts), details=details)


def settled_text(entry: TryEntry, verb: str, settled: Settled) -> str:
    """Spell what a commit or discard has done."""
    done = "committed" if verb == "commit" else "discarded"
    lines = [f"{entry.id}: {counted(len(settled.done), 'path')} {done}"]
    if settled.left:
        lines[0] += f", {len(settled.left)} left"
    lines += [f"conflict: {conflict.path}: {conflict.reason}; it is not committed" for conflict in settled.conflicts]
    return "\n".join(lines)
