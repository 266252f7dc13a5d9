"""What every command does with its words: nothing by guess. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.manual import MANUAL
from bot.errors import InputError

SHOWN_CHARS = 80


def refuse_more(path: str, given: Sequence[str]) -> None:
    """Refuse words that a command which changes something takes no notice of; `given` is what follows its path.

    Raises:
        InputError: there are more words than the manual names.

    >>> refuse_more("heartbeat off", ["shop"])
    """
    entry = MANUAL[path]
    if entry.extra_words is None or len(given) <= entry.extra_words:
        return
    extra = " ".join(given[entry.extra_words :])[:SHOWN_CHARS]
    raise InputError(
        f"Nothing was changed, for “{extra}” is more than that takes: /triage {entry.form}. "
        f"More: /triage help {entry.path}"
    )
