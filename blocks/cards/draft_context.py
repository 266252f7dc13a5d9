"""What stands around a draft on its card: twins, an earlier reply, and suspect changes. Pure.

Twins are threads in which the same was asked; each has a way to take it out. Suspect changes are the newest commits of
the lines that the question's stack trace leads to.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from slack_sdk.models.blocks import (
    Block,
    ButtonElement,
    MarkdownTextObject,
    Option,
    SectionBlock,
    StaticSelectElement,
)

from blocks import ids
from blocks.text.escaping import local_time
from blocks.text.outgoing_text import context, escape, plain
from bot.casework.decisions import DraftClick
from bot.domain.citations.citation_lines import shown_ref
from bot.domain.citations.links import sibling_message_link
from bot.domain.returns import SuspectChange
from bot.domain.secrets import redact
from bot.domain.text.humanize import duration
from bot.domain.threads import ThreadState, Twin

SHOWN: Final = 5
"""Twins with a button of their own; the others stand in a menu."""
MAX_OPTIONS: Final = 100
"""Of a menu.  Source: https://docs.slack.dev/reference/block-kit/block-elements/select-menu-element"""
EARLIER_CHARS: Final = 300
NOT_SAME: Final = "Not the same"


def twin_blocks(state: ThreadState) -> list[Block]:
    """Return where else the same was asked, or was answered; nothing where it was not."""
    twins = state.shown_twins
    if not twins:
        return []
    there = f"{len(twins)} other thread{'s' * (len(twins) > 1)}"
    title = f"*Also asked in {there}*" if state.is_open else f"*Answered there too:* {there}"
    lines: list[Block] = [context(f":busts_in_silhouette: {title}")]
    for twin in twins[:SHOWN]:
        button = ButtonElement(text=NOT_SAME, action_id=ids.NOT_SAME, value=_value(twin))
        block_id = f"{ids.NOT_SAME}_{twin.thread_id}"  # App Home shows many cards in one view
        lines.append(SectionBlock(text=MarkdownTextObject(text=_line(twin)), accessory=button, block_id=block_id))
    if rest := twins[SHOWN:]:
        options = [Option(text=_option_text(twin), value=_value(twin)) for twin in rest[:MAX_OPTIONS]]
        menu = StaticSelectElement(action_id=ids.NOT_SAME, placeholder=NOT_SAME, options=options)
        more = MarkdownTextObject(text=f"… and {len(rest)} more")
        lines.append(SectionBlock(text=more, accessory=menu, block_id=f"{ids.NOT_SAME}_more_{state.thread_id}"))
    return lines


def earlier_lines(state: ThreadState) -> list[Block]:
    """Return the reply that was approved to the same question before, and whether what it cites changed since."""
    earlier = state.earlier_reply
    if earlier is None or not state.is_open:
        return []
    link = sibling_message_link(state.permalink, earlier.chat_id, earlier.message_id)
    where = f"<{link}|Answered before>" if link else "Answered before"
    by = f" by <@{earlier.approved_by}>" if earlier.approved_by else ""
    said = escape(plain(redact(earlier.text), EARLIER_CHARS))
    refs = ", ".join(f"`{escape(plain(ref.replace('`', ''), 90))}`" for ref in earlier.changed)
    changed = f"\n:warning: the cited lines changed since: {refs}" if refs else ""
    return [context(f":leftwards_arrow_with_hook: *{where}*{by}, {local_time(earlier.posted_at)}: {said}{changed}")]


def _line(twin: Twin) -> str:
    link = f" · <{twin.permalink}|open thread>" if twin.permalink else ""
    return f"<@{twin.asker}> in <#{twin.chat_id}>, {local_time(twin.asked_at)}{link}"


def _option_text(twin: Twin) -> str:
    return f"{twin.asked_at.astimezone(UTC):%H:%M:%S} UTC, {twin.chat_id}"


def _value(twin: Twin) -> str:
    return ids.encode_click(DraftClick(thread_id=twin.thread_id, version=0, draft_hash=""))


SHOWN_SUSPECTS: Final = 3
PLACE_CHARS: Final = 100
AUTHOR_CHARS: Final = 60
SUBJECT_CHARS: Final = 120
TITLE: Final = ":mag_right: *Suspect changes* where the stack trace leads; nobody has judged them"


def suspect_lines(suspects: Sequence[SuspectChange], asked_at: datetime) -> list[Block]:
    """Return what lately changed, one line a commit, the newest first; nothing where there is nothing.

    The age is that at `asked_at`, so that it stays true however late the card is read.
    """
    shown = suspects[:SHOWN_SUSPECTS]
    earlier = [[other.ref for other in shown[:number]] for number in range(len(shown))]
    lines = [_suspect_line(one, asked_at, is_again=one.ref in refs) for one, refs in zip(shown, earlier, strict=True)]
    return [context(TITLE), *map(context, lines)] if lines else []


def _suspect_line(one: SuspectChange, asked_at: datetime, *, is_again: bool) -> str:
    place = escape(plain(shown_ref(one.ref).replace("`", ""), PLACE_CHARS))
    author = escape(plain(redact(one.author), AUTHOR_CHARS))
    subject = escape(plain(redact(one.subject), SUBJECT_CHARS))
    age = f"{duration(asked_at - one.changed_at)} before the question" if one.changed_at <= asked_at else "after it"
    changed = f"`{place}` {'before that' if is_again else 'last changed' if one.is_latest else 'changed'}"
    by = f" by {author}" if author else ""
    said = f": {subject}" if subject else ""
    return f"{changed} {local_time(one.changed_at)} ({age}){by} in `{escape(one.commit[:7])}`{said}"
