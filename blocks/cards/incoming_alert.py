"""What a card shows of an incoming alert: how it stands, suspect changes, owners, who has it, and their buttons. Pure.

Suspect changes are the newest commits of the lines that a stack trace leads to, or of the files of the service that
the alert names. Whom a thread is handed to is told in private; that shows the question and no draft.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from slack_sdk.models.blocks import ActionsBlock, Block, ButtonElement, InputBlock, UserSelectElement
from slack_sdk.models.views import View

from blocks import ids
from blocks.cards.draft_context import asked_by, place_words
from blocks.elements import MAX_OPTIONS, OPTION_CHARS, actions, button, form, menu
from blocks.text.outgoing_text import (
    context,
    escape,
    escape_text,
    inline_code,
    local_time,
    mention,
    plain,
    quote_block,
    section,
)
from blocks.text.splitting import truncate
from bot.casework.alerts import Choice, clicked_assignee
from bot.casework.clicks import DraftClick
from bot.domain.alerts import AlertState
from bot.domain.citations.citation_lines import shown_ref
from bot.domain.citations.links import sibling_message_link
from bot.domain.returns import CodeOwner, SuspectChange
from bot.domain.secrets import redact
from bot.domain.text.humanize import duration
from bot.domain.threads import ThreadState

SHOWN_SUSPECTS: Final = 3
PLACE_CHARS: Final = 100
AUTHOR_CHARS: Final = 60
SUBJECT_CHARS: Final = 120
HANDED_CHARS: Final = 600
TITLE: Final = ":mag_right: *Suspect changes*; nobody has judged them"


def alert_line(state: ThreadState) -> list[Block]:
    """Return how the alert of a thread stands: its state, how often it fired, and when; one line however often."""
    alert = state.alert
    if alert is None:
        return []
    fired = f", {alert.count:,} times" if alert.count > 1 else ""
    if alert.is_firing:
        return [context(f":bell: *Firing*{fired}, {'last' if fired else 'since'} {local_time(alert.last_at)}")]
    changed, before = local_time(alert.changed_at), f"; it fired{fired.removeprefix(',')}" if fired else ""
    if alert.state is AlertState.RESOLVED:
        lasted = duration(max(alert.changed_at - alert.first_at, timedelta()))
        return [context(f":white_check_mark: *Resolved* {changed}, after {lasted}{before}")]
    said = "Acknowledged in the alert tool" if alert.state is AlertState.ACKNOWLEDGED else "No longer an alert"
    return [context(f"🔕 *{said}*, {changed}{before}")]


def suspect_lines(suspects: Sequence[SuspectChange], asked_at: datetime) -> list[Block]:
    """Return what lately changed, one line a commit, the newest first; nothing where there is nothing.

    The age is that at `asked_at`, so that it stays true however late the card is read.
    """
    shown = suspects[:SHOWN_SUSPECTS]
    earlier = [[other.ref for other in shown[:number]] for number in range(len(shown))]
    lines = [_suspect_line(one, asked_at, is_again=one.ref in refs) for one, refs in zip(shown, earlier, strict=True)]
    return [context(TITLE), *map(context, lines)] if lines else []


def _suspect_line(one: SuspectChange, asked_at: datetime, *, is_again: bool) -> str:
    place = inline_code(shown_ref(one.ref), PLACE_CHARS)
    author = escape(plain(redact(one.author), AUTHOR_CHARS))
    subject = escape(plain(redact(one.subject), SUBJECT_CHARS))
    age = f"{duration(asked_at - one.changed_at)} before the question" if one.changed_at <= asked_at else "after it"
    how = "before that" if is_again else "last changed" if one.is_latest else "changed"
    by = f" by {author}" if author else ""
    said = f": {subject}" if subject else ""
    return f"{place} {how} {local_time(one.changed_at)} ({age}){by} in `{escape(one.commit[:7])}`{said}"


def owner_line(owners: Sequence[CodeOwner]) -> list[Block]:
    """Return who owns the files it leads to: as CODEOWNERS says, then who changed them most often lately."""
    parts = [(True, "CODEOWNERS"), (False, "most changes lately by")]
    said = [
        f"{words} {', '.join(named)}"
        for by_rule, words in parts
        if (named := [escape(plain(redact(one.name), AUTHOR_CHARS)) for one in owners if one.by_rule is by_rule])
    ]
    return [context(f"👤 *Owners:* {' · '.join(said)}")] if said else []


def assignee_line(state: ThreadState) -> list[Block]:
    """Return who has the thread, and who gave it to them."""
    if state.assignee is None:
        return []
    given = f"; <@{state.handed.by}> handed it over {local_time(state.handed.at)}" if state.handed else ""
    return [context(f"🙋 *{mention(state.assignee)} has it*{given}")]


def assignee_actions(state: ThreadState) -> list[ActionsBlock]:
    """Return the buttons of an alert that is open: take it, or give it to somebody."""
    if not (state.is_alert and state.is_open):
        return []
    take = button("I have it", ids.HAVE_IT, ids.CLICK.encode(hand_over_click(state)))
    return [actions(f"assignee:{state.thread_id}", take, hand_over_button(state))]


def hand_over_button(state: ThreadState) -> ButtonElement:
    """Return the button that gives a thread to somebody."""
    return button("Hand to…", ids.HAND_TO, ids.CLICK.encode(hand_over_click(state)))


def hand_over_click(state: ThreadState) -> DraftClick:
    """Return what these buttons carry; instead of a draft they name who has the thread."""
    return DraftClick(thread_id=state.thread_id, version=state.draft_version, draft_hash=clicked_assignee(state))


def hand_over_modal(click: DraftClick, choices: Sequence[Choice] = (), *, from_home: bool = False) -> View:
    """Return the choice of who gets a thread: from a list, or anybody by name."""
    options = [(plain(redact(one.label), OPTION_CHARS), one.place_id) for one in choices[:MAX_OPTIONS]]
    listed = menu(ids.INPUT, "Choose", options) if options else None
    anybody = UserSelectElement(action_id=ids.INPUT, placeholder="Choose a person")
    return form(
        ids.HAND_VIEW,
        ids.encode_dialogue(click, from_home=from_home),
        title="Hand to…",
        submit="Hand over",
        blocks=[
            context("They get a direct message with the question and the link to this card."),
            *(
                [InputBlock(block_id=ids.OTHER, label="Owner, group or colleague", element=listed, optional=True)]
                if listed
                else []
            ),
            InputBlock(block_id=ids.PERSON, label="Anybody else", element=anybody, optional=True),
        ],
    )


def hand_over_text(state: ThreadState) -> str:
    """Return the one line of the direct message."""
    by = f"<@{state.handed.by}>" if state.handed else "Somebody"
    return f"{by} handed this to you: {asked_by(state)} in {place_words(state.chat_id)}"


def hand_over_blocks(state: ThreadState) -> list[Block]:
    """Return what the assignee is told; nothing of the draft."""
    links = [f"<{state.permalink}|open thread>"] if state.permalink else []
    if state.card_channel and state.card_ts:
        card = sibling_message_link(state.permalink, state.card_channel, state.card_ts)
        links.append(f"<{card}|open card>" if card else f"card in <#{state.card_channel}>")
    asked = truncate(escape_text(state.question), HANDED_CHARS) or "(no text)"
    mark = ids.hand_over_block_id(state)
    return [
        section(" · ".join([f"🙋 {hand_over_text(state)}", *links]), block_id=mark),
        section(quote_block(asked)),
    ]
