"""Shares one room among several who want some of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def fair_shares(wanted: Sequence[int], room: int) -> list[int]:
    """Return what each gets: all it wants where that is no more than an equal share of what the smaller ones leave.

    >>> fair_shares([10, 90, 50], 100)
    [10, 45, 45]
    """
    shares = [0] * len(wanted)
    by_size = sorted(range(len(wanted)), key=lambda place: wanted[place])
    for left, place in zip(range(len(wanted), 0, -1), by_size, strict=True):
        shares[place] = min(wanted[place], room // left)
        room -= shares[place]
    return shares
