"""What one call may spend: a section of the settings, and an argument of a call that can only tighten it."""

from __future__ import annotations

from dataclasses import dataclass

from nacre.errors import ConfigError, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What one call may spend; without a value there is no limit."""

    cpu_seconds: float | None = None
    memory_bytes: int | None = None
    processes: int | None = None
    file_bytes: int | None = None
    output_bytes: int | None = None
    wall_seconds: float | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not value > 0):
                raise ConfigError(f"budget.{name} is {shown(value)}; accepted: a number above 0", key=f"budget.{name}")

    def narrowed(self, other: Budget | None) -> Budget:
        """Return the smaller limit of both in each place: a call can only tighten what the settings allow."""
        if other is None:
            return self
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in self.__slots__}
        least = {name: min((one for one in both if one is not None), default=None) for name, both in pairs.items()}
        return Budget(**least)


NO_BUDGET = Budget()
