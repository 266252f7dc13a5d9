"""How many slips of the finger lie between two names. Pure.

A slip is one letter more, less, other, or two neighbours in the other order. Source: Damerau, "A technique for computer
detection and correction of spelling errors", 1964, in the form of the optimal string alignment.
"""

from __future__ import annotations

from typing import Final

ONE_SLIP_CHARS: Final = 5
TWO_SLIPS_CHARS: Final = 8
MAX_CHARS: Final = 80


def slips_allowed(word: str) -> int:
    """Return how many slips a word may hold: none if it is short, for then it may be any other word.

    >>> slips_allowed("form"), slips_allowed("lsiten"), slips_allowed("sesion_interface")
    (0, 1, 2)
    """
    if len(word) > MAX_CHARS:
        return 0
    return (len(word) >= ONE_SLIP_CHARS) + (len(word) >= TWO_SLIPS_CHARS)


def slips(one: str, other: str, at_most: int) -> int:
    """Return the number of slips between two words; some number above `at_most` where there are more.

    >>> slips("lsiten", "listen", 2), slips("retry", "retries", 2), slips("abc", "xyz", 2) > 2
    (1, 3, True)
    """
    if one == other:
        return 0
    if one[:1] == other[:1]:
        return slips(one[1:], other[1:], at_most)
    if at_most <= 0 or abs(len(one) - len(other)) > at_most:
        return at_most + 1
    ways = [(one[1:], other), (one, other[1:]), (one[1:], other[1:])]
    if one[:2] == other[1::-1]:
        ways.append((one[2:], other[2:]))
    return 1 + min(slips(*way, at_most - 1) for way in ways)


def trigrams(word: str) -> list[str]:
    """Return every three neighbouring letters of a word with a blank before and behind it, each once.

    >>> trigrams("port")
    [' po', 'por', 'ort', 'rt ']
    """
    padded = f" {word.lower()} "
    return list(dict.fromkeys(padded[at : at + 3] for at in range(len(padded) - 2)))
