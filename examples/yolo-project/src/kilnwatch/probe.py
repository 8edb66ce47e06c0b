"""Reads the thermocouple: one line a second, degrees Celsius or `ERR`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    second: int
    degrees: float


def parse(line: str, second: int) -> Reading | None:
    """A reading, or None for a line the probe marks as bad."""
    try:
        return Reading(second, float(line.strip()))
    except ValueError:
        return None
