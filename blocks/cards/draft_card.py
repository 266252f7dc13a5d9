"""The card in the ops channel: one per thread, from the first glance to the posted reply.

Shows the question, the draft exactly as it would be posted, every citation with its mark, its line and its claim, and
the buttons that the thread's status allows. A draft that is too long for the card stands whole in the card's thread;
only then can it be approved. A closed thread keeps its card, from which a note can be saved. All text of a card stays
under Slack's limit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from slack_sdk.models.blocks import Block, DividerBlock, MarkdownTextObject, SectionBlock

from blocks import ids
from blocks.cards.draft_actions import (
    choice_actions,
    closed_actions,
    reinvestigate_button,
    running_actions,
    waiting_actions,
)
from blocks.cards.draft_context import (
    asked_by,
    candidate_blocks,
    earlier_lines,
    evidence_lines,
    place_words,
    twin_blocks,
)
from blocks.cards.draft_status import new_draft_line, objections, status_line
from blocks.cards.fix_view import fix_blocks
from blocks.cards.incoming_alert import alert_line, assignee_actions, assignee_line, owner_line, suspect_lines
from blocks.cards.reply_cards import auto_line, reply_messages, reply_mrkdwn, reply_sections, votes_line
from blocks.text.message_size import SHORT_CHARS, fit_message, without_middle
from blocks.text.outgoing_text import (
    context,
    escape,
    escape_text,
    inline_code,
    mention,
    quote_block,
    quoted_line,
    section,
    verbatim,
)
from blocks.text.splitting import MESSAGE_BLOCK_CHARS, ROOMY_SECTION_CHARS, chars_of, truncate
from bot.casework.posting.reply_proof import ReplyProof, proof_of
from bot.domain.alerts import SIGNS, WORDS, Severity
from bot.domain.citations.links import LinkTo, sibling_message_link
from bot.domain.fixes import NO_FIX, FixMark
from bot.domain.questions.approval_basis import OFFLINE, Basis, basis_of_thread
from bot.domain.questions.draft_language import primary
from bot.domain.questions.feedback import NO_VOTES, Votes
from bot.domain.questions.rubrics import watch_line
from bot.domain.returns import marked_draft
from bot.domain.secrets import redact
from bot.domain.text.humanize import counted, unread_images
from bot.domain.threads import ThreadState, ThreadStatus
from bot.domain.waits import wrote_in_thread

QUESTION_CHARS = 1_200
ALARM_CHARS = 300
GLOSS_CHARS = 600
FOLLOWUP_CHARS = 300
"""Shown of a message that came into the thread since."""

PAGED = 10
"""How many approvers the card of an alarm names."""

DRAFT_CHARS = 5_000
"""Of a draft that a card shows whole, as `chars_of` counts; half of what one message holds."""

UNREAD_IMAGES = {
    "missing_scope": ": the app lacks the scope `files:read`",
    "foreign_file": ": it is kept elsewhere than at Slack",
}
"""Why the chat gives no image, by its own word."""

NEW_DRAFT_CHARS = 2_500
"""Of a new draft that a card shows whole beside a human's text, counted in the same way."""

BEGINNING_CHARS = 600
"""Shown on the card of a draft that stands in the card's thread."""

SPOKEN_DRAFT_CHARS = 2_000
SPOKEN_PLACE_CHARS = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class CardFacts:
    """What a card shows besides its thread's record; what may change is asked each time a card is shown.

    `paused` says who stopped all work. `pages` are the users and groups that the card of an alarm mentions.
    `can_escalate` says whether long investigations are run here, `can_join` whether another question is open that may
    ask the same. `proof` is that of a reply, with its approver's name.
    """

    link_to: LinkTo
    team_language: str = "en"
    paused: Callable[[], str | None] = lambda: None
    fixes: Callable[[ThreadState], FixMark] = lambda _: NO_FIX
    votes: Callable[[ThreadState], Votes] = lambda _: NO_VOTES
    pages: Callable[[], Sequence[str]] = tuple
    can_escalate: bool = True
    can_join: Callable[[ThreadState], bool] = lambda _: False
    proof: Callable[[ThreadState], tuple[ReplyProof, str | None]] = lambda state: (proof_of(state), None)


def card_blocks(
    state: ThreadState,
    facts: CardFacts,
    *,
    progress: str | None = None,
    whole_at: str | None = None,
    refused: str | None = None,
) -> list[Block]:
    """Return the blocks of a thread's card; `progress` is plain text on the run under way.

    `whole_at` is the ts of the message in the card's thread where a draft begins that does not fit; without it such a
    draft cannot be approved. `refused` is Slack's word for why it did not take the whole card: then it is a short one.
    """
    is_short = refused is not None
    draft = _draft(state, whole_at, is_short=is_short)
    above: list[Block] = [
        _question(state, facts.pages()),
        *map(context, _remarks_above(state, facts, refused)),
        *alert_line(state),
        *assignee_line(state),
        *map(context, _asked_since(state)),
        context(status_line(state, progress=progress)),
        *map(context, _remarks_below(state, facts)),
        *votes_line(facts.votes(state)),
        *earlier_lines(state),
        *assignee_actions(state),
        *twin_blocks(state),
    ]
    kept = draft
    if state.status is ThreadStatus.PENDING_USER:
        drafts = [*draft, DividerBlock(), *_new_draft(state)] if draft else []
        kept = draft if is_short else drafts
        can_approve = bool(draft) and (whole_at is not None or draft_fits(state, is_short=is_short))
        offered = {"can_approve": can_approve, "can_escalate": facts.can_escalate, "can_join": facts.can_join(state)}
        buttons = waiting_actions(state, **offered)
        below = [DividerBlock(), *drafts, *_waiting(state, facts), buttons]
    elif state.is_open:
        below = [*_standing(state), *_doubts(state), *map(context, _watch(state)), running_actions(state)]
    else:
        closed = [*fix_blocks(state, facts.fixes(state), None), closed_actions(state)]
        below = [*([DividerBlock(), *draft] if draft else []), *closed]
    return fit_message([*above, *below], kept=kept, limit=SHORT_CHARS if is_short else MESSAGE_BLOCK_CHARS)


def draft_fits(state: ThreadState, *, is_short: bool = False) -> bool:
    """Whether the card shows the draft whole; True where there is none. A short card shows no draft whole."""
    return not state.draft_pending or (not is_short and _fits(state.draft_pending, DRAFT_CHARS))


def card_text(state: ThreadState) -> str:
    """Return the card for notifications and screen readers: status and question; then a waiting draft and its places.

    Whoever hears no blocks can decide by it.
    """
    lead = truncate(f"{_page(state, ())}{status_line(state)}: {' '.join(escape_text(state.question).split())}", 300)
    if not state.draft_pending or state.status is not ThreadStatus.PENDING_USER:
        return lead
    draft = truncate(reply_mrkdwn(draft_with_marks(state, state.draft_pending)), SPOKEN_DRAFT_CHARS)
    refs = state.investigator_return.evidence_refs if state.investigator_return else ()
    places = "; ".join(inline_code(ref.ref, SPOKEN_PLACE_CHARS) for ref in refs)
    return "\n".join(filter(None, (lead, draft, places)))


def _question(state: ThreadState, pages: Sequence[str]) -> Block:
    link = f" · <{state.permalink}|open thread>" if state.permalink else ""
    lead = f"{_page(state, pages)}{asked_by(state)} in {place_words(state.chat_id)}{link}"
    asked = truncate(without_middle(escape_text(state.question), QUESTION_CHARS), QUESTION_CHARS) or "(no text)"
    return SectionBlock(
        text=MarkdownTextObject(text=f"{lead}\n{quote_block(asked)}{_alarm(state)}"),
        block_id=ids.card_block_id(state.thread_id),
    )


def _page(state: ThreadState, pages: Sequence[str]) -> str:
    """Return what leads the card of an alarm: that it pages, and whom; Slack notifies them once, when it is posted.

    Once somebody deals with it, who.
    """
    if state.severity is not Severity.PAGE or not state.is_open:
        return ""
    if state.paging.acknowledged_by is not None:
        return f":eyes: *{WORDS[Severity.PAGE]}:* <@{state.paging.acknowledged_by}> acknowledged it. "
    return f"{page_lead(pages)} "


def _alarm(state: ThreadState) -> str:
    """Return the message that made a page of an ordinary question; nothing where the question did."""
    if state.paging.said is None or state.severity is not Severity.PAGE:
        return ""
    said = truncate(escape_text(state.paging.said), ALARM_CHARS)
    return f"\n<@{state.paging.said_by}> wrote in its thread:\n{quote_block(said)}"


def page_lead(pages: Sequence[str]) -> str:
    """Return the sign and the word of a page, then a mention of each person or group, ten at most."""
    named = "".join(f" {mention(one)}" for one in pages[:PAGED])
    return f"{SIGNS[Severity.PAGE]} *{WORDS[Severity.PAGE]}:*{named}"


def _asked_since(state: ThreadState) -> list[str]:
    """Return the latest question that came into an open thread, which the draft is about as well."""
    later = [said for said in state.followups if said.message_id != state.opened_by_message_id and not said.waits]
    asked = [said for said in later if "?" in said.text] if state.is_open else []
    return [f":speech_balloon: <@{said.sender_id}> asked since: “{_written(said.text)}”" for said in asked[-1:]]


def _remarks_above(state: ThreadState, facts: CardFacts, refused: str | None) -> Iterator[str]:
    """Yield what stands below the question: that the card is cut, and the translation of a foreign question."""
    if refused is not None:
        yield f":scissors: This card is shortened: Slack did not take the whole one ({escape(refused)})"
    ret = state.investigator_return
    if ret is not None and ret.gloss and ret.gloss.strip():
        yield truncate(f":globe_with_meridians: {escape(' '.join(ret.gloss.split()))}", GLOSS_CHARS)
    elif ret is not None and ret.question_language and not _is_same(ret.question_language, facts.team_language):
        yield ":globe_with_meridians: Nothing was translated, and the question is not in the team's language"


def _is_same(language: str, other: str) -> bool:
    return primary(language) == primary(other)


def _remarks_below(state: ThreadState, facts: CardFacts) -> Iterator[str]:
    """Yield what stands below the status: that all work is paused, and which note was saved."""
    paused = facts.paused()
    if paused and state.is_open:
        yield f":double_vertical_bar: *{escape(paused)}* · new work starts after `/triage resume`"
    if state.triage_file_path:
        yield f":file_folder: note saved as `{escape(state.triage_file_path)}`"


def _draft(state: ThreadState, whole_at: str | None, *, is_short: bool) -> list[Block]:
    """Return the draft of a thread that waits or was answered: whole, or its beginning and where all of it stands."""
    if not state.draft_pending or not (state.status is ThreadStatus.PENDING_USER or state.posted_message_id):
        return []
    marked = draft_with_marks(state, state.draft_pending)
    if draft_fits(state, is_short=is_short):
        return reply_sections(marked)
    return [_beginning(marked), section(_where_whole(state, state.draft_pending, whole_at))]


def draft_with_marks(state: ThreadState, draft: str) -> str:
    """Return a draft that waits with `[?]` behind each claim that is not backed; nothing else of it differs."""
    ret = state.investigator_return
    if ret is None or not state.is_open or not ret.claims or not draft.startswith(ret.draft_reply):
        return draft
    return marked_draft(ret, state.checks) + draft.removeprefix(ret.draft_reply)


def _standing(state: ThreadState) -> list[Block]:
    """Return a human's text that stands while an investigation runs."""
    if not state.draft_pending:
        return []
    said = ":pencil2: A human wrote this; it stays. A new draft comes beside it"
    return [DividerBlock(), *_whole_or_beginning(state.draft_pending, DRAFT_CHARS), context(said)]


def _new_draft(state: ThreadState) -> list[Block]:
    """Return the investigator's new draft beside a human's text, and the choice between them."""
    if state.draft_new is None:
        return []
    words = _whole_or_beginning(draft_with_marks(state, state.draft_new.text), NEW_DRAFT_CHARS)
    line = f"{new_draft_line(state)} · *Approve* posts the human's text above until somebody clicks *Use new*"
    return [context(line), *words, choice_actions(state, state.draft_new), DividerBlock()]


def _whole_or_beginning(text: str, most_chars: int) -> list[Block]:
    """Return a text that cannot be approved here: whole, or its beginning, which says that it is no more."""
    if _fits(text, most_chars):
        return reply_sections(text)
    cut = ":page_facing_up: *This is the beginning only.* All of it is shown before it can be approved"
    return [_beginning(text), context(cut)]


def _fits(text: str, most_chars: int) -> bool:
    messages = reply_messages(text)
    return len(messages) < 2 and sum(map(chars_of, messages)) <= most_chars


def _beginning(text: str) -> Block:
    return verbatim(truncate(reply_mrkdwn(text), BEGINNING_CHARS))


def _where_whole(state: ThreadState, draft: str, whole_at: str | None) -> str:
    """Return where a draft is to be read of which the card shows the beginning."""
    if not state.is_open:
        return ":page_facing_up: *This is the beginning only*; the whole reply is in the asker's thread."
    count = len(reply_messages(draft))
    size = f"{len(draft):,} characters{f', {count} messages' if count > 1 else ''}"
    if whole_at is None:
        why = "could not be put into this card's thread, so it cannot be approved. Shorten it with *Edit*, or try again"
        return f":warning: *This is the beginning only.* The whole draft ({size}) {why}."
    link = sibling_message_link(state.permalink, state.card_channel, whole_at) if state.card_channel else None
    place = f"<{link}|in this card's thread>" if link else "in this card's thread"
    return (
        f":page_facing_up: *This is the beginning only.* The whole draft ({size}) is {place}, as it would be "
        "posted. Read it there before you approve it."
    )


def _watch(state: ThreadState) -> Iterator[str]:
    """Yield how a long run is watched, once it has begun."""
    path = state.escalation_transcript_path
    if state.status is ThreadStatus.ESCALATED and path is not None:
        yield f"To watch it, on the bot's machine: `{escape(watch_line(state.escalation_tmux_session, path))}`"


def _waiting(state: ThreadState, facts: CardFacts) -> list[Block]:
    """Return what stands below the drafts of a card that asks the human for a decision."""
    ret = state.investigator_return
    return [
        *evidence_lines(state, facts.link_to),
        *candidate_blocks(state, facts.link_to),
        *auto_line(state),
        *([*suspect_lines(ret.suspect_changes, state.started_at), *owner_line(ret.owners)] if ret else []),
        *map(context, _unread(state)),
        *fix_blocks(state, facts.fixes(state), reinvestigate_button(state)),
        *objections(state),
        *_open_questions(state),
        *_not_answered(state),
        *_doubts(state),
    ]


def _unread(state: ThreadState) -> Iterator[str]:
    """Yield what the investigation read of images, and what it did not: files, and what changed since a fetch."""
    ret = state.investigator_return
    yield from _images(state)
    if ret is not None and ret.not_searched:
        then = "when it is, this is investigated again" if ret.index_unfinished else "`triage doctor` says what to do"
        yield f":mag: *Not searched:* {escape(redact(ret.not_searched))} · {then}"
    if ret is not None and ret.aged_clones:
        yield f":clock3: {escape('; '.join(one.words() for one in ret.aged_clones))}"


def _images(state: ThreadState) -> Iterator[str]:
    """Yield how many of the question's images were read, how many not, and why."""
    ret = state.investigator_return
    read, problem = (ret.images_read, ret.images_problem) if ret else (0, None)
    unread = len(state.images) - read
    why = ": no model was used" if state.investigator == OFFLINE else UNREAD_IMAGES.get(problem or "", "")
    said = [f"read {counted(read, 'image')}"] if read else []
    said += [f"{unread_images(unread)}{why}"] if unread > 0 else []
    if said:
        yield f"🖼️ {' · '.join(said)}"


def _doubts(state: ThreadState) -> list[Block]:
    if not state.stale_reasons:
        return []
    count = len(state.stale_reasons)
    has_draft = state.status is ThreadStatus.PENDING_USER and state.draft_pending is not None
    since = "this draft" if has_draft else "this investigation began"
    title = f":warning: *{counted(count, 'thing')} changed since {since}*"
    authors = (doubt.by for doubt in state.doubts)
    written = {wrote_in_thread(one.sender_id, one.at): one.text for one in reversed(state.followups)}
    words = (_written(written.get(doubt, "")) for doubt in state.doubts)  # "": nobody recorded it, a guest wrote it
    said = list(zip_longest(state.stale_reasons, authors, words, fillvalue=""))
    newest_first = Counter(reversed(said)).items()
    lines = [f"\n• {_doubt(*one)}{f' ({times} times)' if times > 1 else ''}" for one, times in newest_first]
    return [section(truncate(title + "".join(lines), ROOMY_SECTION_CHARS))]


def _doubt(reason: str, by: str, words: str) -> str:
    """Return a doubt made inert but for the user whom it is about, if there is one; then what they wrote."""
    return escape(reason, known_users=(by,) if by else ()) + (f": “{words}”" if words else "")


def _written(text: str) -> str:
    return truncate(quoted_line(text), FOLLOWUP_CHARS)


def _not_answered(state: ThreadState) -> list[Block]:
    """Return what was written in the thread that the draft may not answer; nothing once a human wrote the draft."""
    ret = state.investigator_return
    if ret is None or not ret.not_answered or state.has_edited_draft:
        return []
    draft = "; the draft may not answer it" if state.draft_pending else ""
    lines = "".join(f"\n• “{_written(text)}”" for text in ret.not_answered)
    return [section(f":warning: *Also written in the thread{draft}*{lines}")]


def _open_questions(state: ThreadState) -> list[Block]:
    """Return what the investigator asks; a search that found nothing says so, and what would help."""
    ret = state.investigator_return
    if ret is None or not ret.open_questions:
        return []
    if basis_of_thread(state) is Basis.SEARCH:
        said = escape("\n".join(ret.open_questions))
        return [section(said)] if said.strip() else []
    lines = "".join(f"\n• {escape(question)}" for question in ret.open_questions)
    return [section(truncate(f"*To answer this, the investigator needs to know*{lines}", ROOMY_SECTION_CHARS))]
