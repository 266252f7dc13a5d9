"""What is said of a question that pages and that nobody deals with: a ring, and the message to who is told next.

Pure. It quotes the words that raised the alarm (the question, or a later message in its thread) and never a draft.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from slack_sdk.models.blocks import Block

from blocks import ids
from blocks.cards.draft_card import page_lead
from blocks.cards.draft_context import asked_by
from blocks.text.outgoing_text import context, escape_text, quote_block, section
from blocks.text.splitting import truncate
from bot.domain.citations.links import sibling_message_link
from bot.domain.severity import WORDS, Severity
from bot.domain.text.humanize import duration, ordinal
from bot.domain.threads import ThreadState
from bot.ports import PageRing

QUESTION_CHARS = 600
NOTIFICATION_CHARS = 300
LISTED_CHARS = 150
LISTED_AT_MOST = 20
"""Pages in one message: with their links they stay below what Slack takes."""


def notice_text(state: ThreadState, waited: timedelta) -> str:
    """Return the notice's one line for notifications and screen readers."""
    return truncate(f"{WORDS[Severity.PAGE]}: {_waited(waited)}: {_one_line(state)}", NOTIFICATION_CHARS)


def ring_blocks(state: ThreadState, pages: Sequence[str], *, number: int, waited: timedelta) -> list[Block]:
    """Return the ring of this number (from 1); `pages` are the users and groups it mentions, or `channel`."""
    before = 1 if state.paging.since is None else 0  # what became a page later rang nobody's phone when it was asked
    said = f"{page_lead(pages)} *rings for the {ordinal(number + before)} time*: {_waited(waited)}."
    how = "Reminders stop when an approver clicks on the card or writes in the thread."
    return _notice(state, said, how, mark=ids.page_block_id(state, number))


def rings_text(rings: Sequence[PageRing]) -> str:
    """Return one line for the notification of several rings."""
    asked = "; ".join(_one_line(each.state) for each in rings)
    return truncate(f"{WORDS[Severity.PAGE]}: nobody has acknowledged {len(rings)} pages: {asked}", NOTIFICATION_CHARS)


def rings_blocks(rings: Sequence[PageRing], pages: Sequence[str]) -> list[Block]:
    """Return one message for several rings, at most LISTED_AT_MOST; each page bears its own mark."""
    lead = f"{page_lead(pages)} *{len(rings)} pages ring again*: nobody has acknowledged them."
    how = "Reminders of one stop when an approver clicks on its card or writes in its thread."
    return [section(lead), *(_listed(each) for each in rings), context(how)]


def _listed(ring: PageRing) -> Block:
    state = ring.state
    said = " · ".join([_who(state), f"{duration(ring.waited)} ago", *_links(state)])
    asked = quote_block(truncate(_one_line(state), LISTED_CHARS) or "(no text)")
    return section(f"{asked}\n{said}", block_id=ids.page_block_id(state, ring.number))


def escalation_blocks(state: ThreadState, *, waited: timedelta) -> list[Block]:
    """Return what is told to a person, a member of a group or a channel outside the ops channel."""
    said = f"{page_lead(())} *escalated*: {_waited(waited)}."
    how = "To take it, write in its thread; reminders then stop."
    return _notice(state, said, how, mark=ids.page_block_id(state, None))


def _notice(state: ThreadState, said: str, how: str, *, mark: str) -> list[Block]:
    asked = truncate(escape_text(_alarm(state)), QUESTION_CHARS) or "(no text)"
    return [
        section(f"{said}\n{' · '.join([_who(state), *_links(state)])}", block_id=mark),
        section(quote_block(asked)),
        context(how),
    ]


def _one_line(state: ThreadState) -> str:
    return " ".join(escape_text(_alarm(state)).split())


def _alarm(state: ThreadState) -> str:
    """Return the words that made the page."""
    return state.question if state.paging.said is None else state.paging.said


def _who(state: ThreadState) -> str:
    if state.paging.said is not None:
        return f"<@{state.paging.said_by}> wrote in a thread of <#{state.chat_id}>"
    return f"{asked_by(state)} in <#{state.chat_id}>"


def _links(state: ThreadState) -> list[str]:
    links = [f"<{state.permalink}|open thread>"] if state.permalink else []
    if state.card_channel and state.card_ts:
        card = sibling_message_link(state.permalink, state.card_channel, state.card_ts)
        links.append(f"<{card}|card>" if card else f"card in <#{state.card_channel}>")
    return links


def _waited(waited: timedelta) -> str:
    return f"nobody has acknowledged it for {duration(waited)}"
