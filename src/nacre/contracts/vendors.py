"""Tools as the API of a model vendor takes them: same name and description, schema in the subset that the API knows.

A contract checks what a vendor's schema cannot express: values out of bounds are still refused, null is read as an
absent field, and a mapping may come as a list of names and values. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nacre.errors import InvalidRequestError

Schema = Mapping[str, Any]

# Contract and vendor → the tool that the vendor's models were trained on; the vendor has its schema.
_BUILT_IN: dict[tuple[str, str], dict[str, Any]] = {
    ("anthropic", "anthropic"): {"type": "bash_20250124", "name": "bash"},
    ("openai", "openai"): {"type": "shell", "environment": {"type": "local"}},
}

# Keywords in the subset of every vendor.
_KEPT = {"type", "description", "enum", "items", "properties", "required", "anyOf"}
# Keywords that only narrow: the contract refuses the same values.
_NARROWING = {"minimum", "maximum", "additionalProperties"}


def tool_for(vendor: str, contract: str, schema: Schema) -> dict[str, Any]:
    """Return the entry for the `tools` of a request; `schema` comes from `Tool.schema()`."""
    if vendor not in _ENVELOPES:
        raise InvalidRequestError(f"there is no vendor {vendor!r}; there are {', '.join(_ENVELOPES)}", field="vendor")
    built_in = _BUILT_IN.get((contract, vendor))
    return dict(built_in) if built_in is not None else _ENVELOPES[vendor](schema)


def _anthropic(schema: Schema) -> dict[str, Any]:
    return {"name": schema["name"], "description": schema["description"], "input_schema": schema["input_schema"]}


def _openai(schema: Schema) -> dict[str, Any]:
    return {
        "type": "function",
        "name": schema["name"],
        "description": schema["description"],
        "parameters": strict(schema["input_schema"]),
        "strict": True,
    }


def _gemini(schema: Schema) -> dict[str, Any]:
    return {
        "name": schema["name"],
        "description": schema["description"],
        "parameters": plain(schema["input_schema"]),
    }


_ENVELOPES: dict[str, Callable[[Schema], dict[str, Any]]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "gemini": _gemini,
}


def vendor_names() -> list[str]:
    return list(_ENVELOPES)


def strict(schema: Schema) -> dict[str, Any]:
    """Rewrite a schema for OpenAI's strict mode: every property required, optional ones nullable, no others."""
    made = _plainly(schema, strict)
    if "properties" in made:
        required = made.get("required", [])
        made["properties"] = {
            name: shape if name in required else _nullable(shape) for name, shape in made["properties"].items()
        }
        made["required"] = list(made["properties"])
        made["additionalProperties"] = False
    return made


def plain(schema: Schema) -> dict[str, Any]:
    """Rewrite a schema for Gemini's subset of OpenAPI: one type per value, no other keywords."""
    made = _plainly(schema, plain)
    if (kinds := made.pop("anyOf", None)) is not None:
        # The contract reads a text in place of any other type.
        assert {"type": "string"} in kinds, f"a value of the types {kinds} cannot be asked for as one"
        made["type"] = "string"
    return made


def _plainly(schema: Schema, inner: Callable[[Schema], dict[str, Any]]) -> dict[str, Any]:
    """Reduce a schema to the keywords that all vendors know, and apply `inner` to its inner schemas."""
    unknown = set(schema) - _KEPT - _NARROWING
    assert not unknown, f"no vendor's schema is known to say {unknown}"
    made = {name: value for name, value in schema.items() if name in _KEPT}
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        made |= {"type": "array", "items": inner(_pair_of(values))}
    if "items" in schema:
        made["items"] = inner(schema["items"])
    if "properties" in schema:
        made["properties"] = {name: inner(shape) for name, shape in schema["properties"].items()}
    return made


def _pair_of(values: Schema) -> dict[str, Any]:
    """Return the schema of one entry of a mapping, for vendors that have only lists."""
    return {
        "type": "object",
        "properties": {"name": {"type": "string"}, "value": dict(values)},
        "required": ["name", "value"],
    }


def _nullable(shape: dict[str, Any]) -> dict[str, Any]:
    description = {"description": shape["description"]} if "description" in shape else {}
    if "anyOf" in shape:
        return {"anyOf": [*shape["anyOf"], {"type": "null"}], **description}
    if shape["type"] in ("object", "array"):
        inner = {name: value for name, value in shape.items() if name != "description"}
        return {"anyOf": [inner, {"type": "null"}], **description}
    nullable = shape | {"type": [shape["type"], "null"]}
    return nullable | {"enum": [*shape["enum"], None]} if "enum" in shape else nullable
