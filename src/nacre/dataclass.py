"""`dataclass` for the values that every program loads: the standard library's, without the source that it generates.

Before Python 3.13 the standard one writes and compiles half a dozen functions for each class, which was a third of the
time that `nacre run` took to start. Here all classes share them. A type checker sees the standard one, and so does
everybody who asks a class for its fields, parameters or signature. Only for frozen values with slots that inherit
from nothing; a class that is rarely loaded needs none of this.
"""

from __future__ import annotations

import functools
import operator
from types import MappingProxyType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_MISSING: Any = object()

# More values of a class than a program makes that runs one command; compiling takes longer than making them all.
MANY = 50


class Field:
    """One field of a class, as far as values need it."""

    __slots__ = ("default", "default_factory", "metadata", "name", "repr")

    def __init__(
        self,
        *,
        default: Any = _MISSING,
        default_factory: Callable[[], Any] | None = None,
        repr: bool = True,
        metadata: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.name = ""
        self.default = default
        self.default_factory = default_factory
        self.repr = repr
        self.metadata = metadata


def _dataclass(*, frozen: bool, slots: bool, kw_only: bool = False) -> Callable[[type], type]:
    if not (frozen and slots):
        raise TypeError("only frozen values with slots are made here; the standard library makes all others")
    return functools.partial(_made, kw_only=kw_only)


def _made(draft: type, *, kw_only: bool) -> type:
    """The class with slots, which can only be given to it when it is created."""
    fields = tuple(_field_of(name, draft) for name in draft.__annotations__)
    names = tuple(field.name for field in fields)
    body = {name: value for name, value in vars(draft).items() if name not in {*names, "__dict__", "__weakref__"}}
    body |= {name: method for name, method in _SHARED.items() if name not in body}
    body["__qualname__"] = draft.__qualname__
    body["__slots__"] = names
    body["__match_args__"] = () if kw_only else names
    body["__record_fields__"] = fields
    body["__record_kw_only__"] = kw_only
    made = type(draft)(draft.__name__, draft.__bases__, body)
    made.__init__ = _initialiser(made, fields)  # type: ignore[misc]
    # Of one name it would give the bare value, of none nothing.
    made.__record_values__ = operator.attrgetter(*names) if len(names) > 1 else _values  # type: ignore[attr-defined]
    return made


def _field_of(name: str, draft: type) -> Field:
    given = vars(draft).get(name, _MISSING)
    field = given if isinstance(given, Field) else Field(default=given)
    field.name = name
    return field


def _initialiser(made: type, fields: tuple[Field, ...]) -> Callable[..., None]:
    """What sets the slots of the first values; for a program that makes many, one is compiled."""
    defaults = {field.name: field.default for field in fields if field.default is not _MISSING}
    factories = [(field.name, field.default_factory) for field in fields if field.default_factory is not None]
    # A slot's own way to set it: the class refuses every other.
    setters = {field.name: vars(made)[field.name].__set__ for field in fields}
    positional = made.__match_args__  # type: ignore[attr-defined]
    check = getattr(made, "__post_init__", None)
    made_so_far = 0

    def __init__(self: object, /, *values: Any, **named: Any) -> None:
        nonlocal made_so_far
        if made_so_far >= MANY:
            made.__init__ = _compiled(made, fields)  # type: ignore[misc]
            made.__init__(self, *values, **named)  # type: ignore[misc]
            return
        if values:
            if len(values) > len(positional) or not named.keys().isdisjoint(positional[: len(values)]):
                raise _misfit(made, values, named)
            named.update(zip(positional, values, strict=False))
        filled = {**defaults, **named}
        for name, factory in factories:
            if name not in filled:
                filled[name] = factory()
        if filled.keys() != setters.keys():
            raise _misfit(made, values, named)
        for name, set_slot in setters.items():
            set_slot(self, filled[name])
        if check is not None:
            check(self)
        made_so_far += 1

    return __init__


def _compiled(made: Any, fields: tuple[Field, ...]) -> Callable[..., None]:
    """The initialiser as one would write it by hand; faster than the standard one, which sets slots by name."""
    known: dict[str, Any] = {"_MISSING": _MISSING}
    parameters = ["self"] + ["*"] * (made.__record_kw_only__ and bool(fields))
    lines = []
    for field in fields:
        name = field.name
        known[f"_set_{name}"] = vars(made)[name].__set__
        if field.default_factory is not None:
            known[f"_make_{name}"] = field.default_factory
            parameters.append(f"{name}=_MISSING")
            lines.append(f"_set_{name}(self, _make_{name}() if {name} is _MISSING else {name})")
            continue
        if field.default is not _MISSING:
            known[f"_default_{name}"] = field.default
        parameters.append(name if field.default is _MISSING else f"{name}=_default_{name}")
        lines.append(f"_set_{name}(self, {name})")
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n  " + "\n  ".join(lines or ["pass"]), known)
    made_here: Callable[..., None] = known["__init__"]
    made_here.__qualname__ = f"{made.__qualname__}.__init__"
    return made_here


def _misfit(made: type, values: tuple[Any, ...], named: Mapping[str, Any]) -> TypeError:
    """What the standard library's class would say."""
    try:
        _standard(made)(*values, **named)
    except TypeError as error:
        return error
    raise AssertionError(f"{made.__name__} refused what the standard library takes")


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, field.name) for field in self.__record_fields__)


def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in self.__record_fields__ if field.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    values_of = self.__class__.__record_values__
    return values_of(self) == values_of(other)


def _hash(self: Any) -> int:
    return hash(self.__class__.__record_values__(self))


def _setattr(self: object, name: str, value: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: object, name: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _reduce(self: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """For copy and pickle, which would set one slot after the other."""
    return functools.partial(self.__class__, **dict(_items(self))), ()


def _items(self: Any) -> list[tuple[str, Any]]:
    return [(field.name, getattr(self, field.name)) for field in self.__record_fields__]


class _Described:
    """An attribute of a class that the standard library's class answers for, made when it is first asked for."""

    def __init__(self, describe: Callable[[Any], Any]) -> None:
        self._describe = describe

    def __get__(self, instance: object, owner: type) -> Any:
        return self._describe(_standard(owner))


@functools.cache
def _standard(made: Any) -> type:
    import dataclasses

    body: dict[str, Any] = {"__annotations__": made.__annotations__, "__module__": made.__module__}
    body["__qualname__"] = made.__qualname__
    for field in made.__record_fields__:
        given: dict[str, Any] = {"repr": field.repr, "metadata": field.metadata}
        if field.default is not _MISSING:
            given["default"] = field.default
        if field.default_factory is not None:
            given["default_factory"] = field.default_factory
        body[field.name] = dataclasses.field(**given)
    return dataclasses.dataclass(frozen=True, kw_only=made.__record_kw_only__)(type(made.__name__, (), body))


def _signature(standard: type) -> object:
    import inspect

    return inspect.signature(standard)


_SHARED: dict[str, Any] = {
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__reduce__": _reduce,
    "__signature__": _Described(_signature),
    "__dataclass_fields__": _Described(operator.attrgetter("__dataclass_fields__")),
    "__dataclass_params__": _Described(operator.attrgetter("__dataclass_params__")),
}


def _fields(kind: Any) -> tuple[Field, ...]:
    found: tuple[Field, ...] = kind.__record_fields__
    return found


def _replace(value: Any, /, **changes: Any) -> Any:
    return value.__class__(**dict(_items(value)) | changes)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import fields as fields
    from dataclasses import replace as replace
else:
    dataclass, field, fields, replace = _dataclass, Field, _fields, _replace
