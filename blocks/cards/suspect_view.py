"""Suspect changes on a card: which commits lately changed the lines that the question's stack trace leads to. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.text.escaping import local_time
from blocks.text.outgoing_text import context, escape, plain
from bot.domain.citations.citation_lines import shown_ref
from bot.domain.returns import SuspectChange
from bot.domain.secrets import redact
from bot.domain.text.humanize import duration

SHOWN: Final = 3
PLACE_CHARS: Final = 100
AUTHOR_CHARS: Final = 60
SUBJECT_CHARS: Final = 120
TITLE: Final = ":mag_right: *Suspect changes* where the stack trace leads; nobody has judged them"


def suspect_lines(suspects: Sequence[SuspectChange], asked_at: datetime) -> list[Block]:
    """Return what lately changed, one line a commit, the newest first; nothing where there is nothing.

    The age is that at `asked_at`, so that it stays true however late the card is read.
    """
    shown = suspects[:SHOWN]
    earlier = [[other.ref for other in shown[:number]] for number in range(len(shown))]
    lines = [_line(one, asked_at, is_again=one.ref in refs) for one, refs in zip(shown, earlier, strict=True)]
    return [context(TITLE), *map(context, lines)] if lines else []


def _line(one: SuspectChange, asked_at: datetime, *, is_again: bool) -> str:
    place = escape(plain(shown_ref(one.ref).replace("`", ""), PLACE_CHARS))
    author = escape(plain(redact(one.author), AUTHOR_CHARS))
    subject = escape(plain(redact(one.subject), SUBJECT_CHARS))
    age = f"{duration(asked_at - one.changed_at)} before the question" if one.changed_at <= asked_at else "after it"
    changed = f"`{place}` {'before that' if is_again else 'last changed' if one.is_latest else 'changed'}"
    by = f" by {author}" if author else ""
    said = f": {subject}" if subject else ""
    return f"{changed} {local_time(one.changed_at)} ({age}){by} in `{escape(one.commit[:7])}`{said}"
