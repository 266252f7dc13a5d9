"""A rate that several processes keep together, because who refuses them counts them as one."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Rate(NamedTuple):
    """`burst` at once, then one every `1 / per_second` s; for each key of `name` by itself."""

    name: str
    per_second: float
    burst: int


class SharedPace(Protocol):
    """Slots that every process takes from the same row. Both methods raise StoreError."""

    def reserve(self, rate: Rate, key: str, *, patience_s: float, spare: int = 0) -> float:
        """Take the next slot and return in how many seconds it comes, 0 for now.

        More than `patience_s`: nothing was taken. `spare`, less than the burst, is left of it to the rest.
        """
        ...

    def hold(self, rate: Rate, key: str, seconds: float) -> None:
        """Let nobody take a slot before so many seconds have passed; a longer hold stays."""
        ...
