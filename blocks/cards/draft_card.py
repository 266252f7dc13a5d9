"""The card in the ops channel: one per thread, from the first glance to the posted reply.

Shows the question, the draft exactly as it would be posted, every citation with its mark, its line and its claim, and
the buttons that the thread's status allows. A draft that is too long for the card stands whole in the card's thread;
only then can it be approved. A closed thread keeps its card; its one button offers to remember what people made of the
draft. All text of a card together stays under Slack's limit.

A reply as it is posted, in one message or, where Slack takes no more in one, in several; cards show the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import Final

from slack_sdk.models.blocks import (
    ActionsBlock,
    Block,
    ButtonElement,
    ConfirmObject,
    DividerBlock,
    InteractiveElement,
    MarkdownTextObject,
    Option,
    OverflowMenuElement,
    SectionBlock,
)

from blocks import ids
from blocks.cards.audit_card import auto_line
from blocks.cards.draft_context import earlier_lines, suspect_lines, twin_blocks
from blocks.cards.draft_status import basis, objections, status_line
from blocks.cards.feedback_view import votes_line
from blocks.cards.fix_view import fix_blocks
from blocks.cards.lesson_card import lesson_blocks
from blocks.text.marks import without_marks, without_marks_in
from blocks.text.message_size import SHORT_CHARS, fit_message, without_middle
from blocks.text.outgoing_text import (
    SECTION_CHARS,
    TRUNCATED,
    context,
    escape,
    escape_text,
    mention,
    plain,
    quote_block,
    section,
    split,
    to_mrkdwn,
    truncate,
    verbatim,
)
from blocks.text.splitting import LINK_CHARS, MESSAGE_BLOCK_CHARS, ROOMY_SECTION_CHARS, chars_of
from bot.casework.card_marks import NO_LESSON, LessonMark
from bot.casework.checks.claim_checks import unsourced_statements
from bot.casework.checks.draft_checks import ref_marks
from bot.casework.decisions import DraftClick
from bot.domain.citations.citation_lines import outdated_words, shown_ref, telling_line
from bot.domain.citations.links import LinkTo, sibling_message_link
from bot.domain.fixes.fixes import NO_FIX, FixMark
from bot.domain.questions.approval_basis import Basis, track_record_words
from bot.domain.questions.escalation_rules import watch_line
from bot.domain.questions.feedback import NO_VOTES, Votes
from bot.domain.questions.twin_threads import is_alert
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.secrets import redact
from bot.domain.severity import SIGNS, WORDS, Severity
from bot.domain.text.language import is_in_language
from bot.domain.text.sanitize import strip_hidden
from bot.domain.threads import PendingReason, ThreadState, ThreadStatus

NOTIFICATION_CHARS: Final = 3_000
MAX_SECTIONS: Final = 25
"""Of one message: half of what Slack takes."""
REPLY_CHARS: Final = MESSAGE_BLOCK_CHARS - 400
"""Of one message; the rest is for the line that stands above it where it is shown before it is posted."""
MAX_MESSAGES: Final = 10
CUT_NOTE: Final = f"_{TRUNCATED}: one reply has at most {MAX_MESSAGES} messages_"


def reply_messages(draft: str) -> list[list[Block]]:
    """Return the blocks of each message that a draft (Markdown) is posted as; no message for a blank one.

    Code blocks are closed in each section. Where ten messages hold no more, the last section says that it was cut.
    """
    sections = [verbatim(part) for part in split(to_mrkdwn(draft), SECTION_CHARS)]
    messages: list[list[Block]] = []
    for one in sections:
        last = messages[-1] if messages else None
        if last is None or len(last) == MAX_SECTIONS or chars_of([*last, one]) > REPLY_CHARS:
            messages.append([one])
        else:
            last.append(one)
    if len(messages) > MAX_MESSAGES:
        return [*messages[: MAX_MESSAGES - 1], [section(CUT_NOTE)]]
    return messages


def reply_sections(draft: str) -> list[Block]:
    """Return the sections of all messages of a reply, one below the other."""
    return list(chain.from_iterable(reply_messages(draft)))


def reply_text(draft: str) -> str:
    """Return the reply's text for notifications; deterministic, so that a post of ours can be recognised by it."""
    return truncate(to_mrkdwn(draft), NOTIFICATION_CHARS)


def message_text(blocks: Sequence[Block]) -> str:
    """Return the text for notifications of one of several messages."""
    texts = (block.text.text for block in blocks if isinstance(block, SectionBlock) and block.text)
    return truncate("\n".join(texts), NOTIFICATION_CHARS)


def marked(blocks: Sequence[Block], mark: str) -> list[Block]:
    """Return a reply's message with the block id by which it is found again on its first section."""
    first, *rest = blocks
    assert isinstance(first, SectionBlock)
    assert isinstance(first.text, MarkdownTextObject)
    return [SectionBlock(text=first.text, block_id=mark), *rest]


def preview_message(blocks: Sequence[Block], mark: str, *, number: int, count: int, version: int) -> list[Block]:
    """Return a message of a reply as it stands below its card before it is posted, its mark on the line above it."""
    of = f", message {number} of {count}" if count > 1 else ""
    said = f":page_facing_up: Draft {version}{of}, as it would be posted. Nothing is posted yet."
    head = context(said)
    head.block_id = mark
    return [head, *blocks]


QUESTION_CHARS = 1_200
ALARM_CHARS = 300
GLOSS_CHARS = 600
SHOWN_REFS = 8
PAGED = 10
"""How many approvers the card of an alarm names."""
REF_CHARS = 90
CLAIM_CHARS = 120
UNSOURCED_CHARS = 400
LESSON_CHARS = 300
LINE_CHARS = 100
DRAFT_CHARS = 5_000
"""Of a draft that a card shows whole, as `chars_of` counts; half of what one message holds."""
BEGINNING_CHARS = 600
"""Shown on the card of a draft that stands in the card's thread."""
_MARKS = {True: "✓", False: "✗", None: "?"}


def card_blocks(
    state: ThreadState,
    *,
    link_to: LinkTo,
    team_language: str = "en",
    offers_notes: bool = False,
    progress: str | None = None,
    paused: str | None = None,
    lesson: LessonMark = NO_LESSON,
    fixes: FixMark = NO_FIX,
    votes: Votes = NO_VOTES,
    pages: Sequence[str] = (),
    whole_at: str | None = None,
    refused: str | None = None,
) -> list[Block]:
    """Return the blocks of a thread's card; `progress` is plain text on the run under way.

    `paused` says who stopped all work. With `offers_notes` the overflow menu has an entry to save the note that the
    investigation proposes. `whole_at` is the ts of the message in the card's thread where a draft begins that does not
    fit; without it such a draft cannot be approved. `refused` is Slack's word for why it did not take the whole card:
    then it is a short one.
    """
    state = without_marks_in(state)
    draft = _draft(state, whole_at, is_short=refused is not None)
    parts: list[Block] = [_question(state, pages), *_shortened_note(refused), *_gloss(state, team_language)]
    parts.append(context(status_line(state, progress=progress and without_marks(progress))))
    if paused and state.is_open:
        waits = "new work starts after `/triage resume`"
        parts.append(context(f":double_vertical_bar: *{escape(paused)}* · {waits}"))
    if state.triage_file_path:
        parts.append(context(f":file_folder: note saved as `{escape(state.triage_file_path)}`"))
    parts += [*votes_line(votes), *earlier_lines(state), *twin_blocks(state)]
    if state.status is ThreadStatus.PENDING_USER:
        can_approve = bool(draft) and (whole_at is not None or draft_fits(state, is_short=refused is not None))
        buttons = _buttons(state, offers_notes, can_approve=can_approve)
        again = _button("Re-investigate", ids.REINVESTIGATE, _click(state))
        patches = fix_blocks(state, fixes, again)
        parts += [*_waiting(state, draft, link_to, patches), _actions(state, buttons)]
    elif state.is_open:
        parts += [*_doubts(state), *_watch(state), _actions(state, _buttons_meanwhile(state))]
    elif draft:
        parts += [DividerBlock(), *draft]
    if not state.is_open:
        parts += fix_blocks(state, fixes, None)
    parts += lesson_blocks(lesson, click_of(state))
    return fit_message(parts, kept=draft, limit=SHORT_CHARS if refused else MESSAGE_BLOCK_CHARS)


def draft_fits(state: ThreadState, *, is_short: bool = False) -> bool:
    """Whether the card shows the draft whole; True where there is none. A short card shows no draft whole."""
    if not state.draft_pending:
        return True
    messages = reply_messages(state.draft_pending)
    return not is_short and len(messages) < 2 and chars_of(reply_sections(state.draft_pending)) <= DRAFT_CHARS


def card_text(state: ThreadState) -> str:
    """Return the card's one line for notifications and screen readers."""
    state = without_marks_in(state)
    return truncate(f"{_page(state, ())}{status_line(state)}: {' '.join(escape_text(state.question).split())}", 300)


def click_of(state: ThreadState, *, with_twins: bool = False) -> DraftClick:
    """Return the click that the buttons of the current card carry; some are about the twins, too."""
    return DraftClick(
        thread_id=state.thread_id,
        version=state.draft_version,
        draft_hash=state.draft_hash or "",
        seen=min(len(state.stale_reasons), ids.MAX_SEEN),
        twins=len(state.twins) if with_twins else 0,
    )


def _question(state: ThreadState, pages: Sequence[str]) -> Block:
    where = f"<#{state.chat_id}>"
    link = f" · <{state.permalink}|open thread>" if state.permalink else ""
    asked = truncate(without_middle(escape_text(state.question), QUESTION_CHARS), QUESTION_CHARS) or "(no text)"
    return SectionBlock(
        text=MarkdownTextObject(
            text=f"{_page(state, pages)}*<@{state.original_sender_id}>* asked in {where}{link}\n{quote_block(asked)}"
            f"{_alarm(state)}"
        ),
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
    said = truncate(escape_text(without_marks(state.paging.said)), ALARM_CHARS)
    return f"\n<@{state.paging.said_by}> wrote in its thread:\n{quote_block(said)}"


def page_lead(pages: Sequence[str]) -> str:
    """Return the sign and the word of a page, then a mention of each person or group, ten at most."""
    named = "".join(f" {mention(one)}" for one in pages[:PAGED])
    return f"{SIGNS[Severity.PAGE]} *{WORDS[Severity.PAGE]}:*{named}"


def _shortened_note(refused: str | None) -> list[Block]:
    if refused is None:
        return []
    return [context(f":scissors: This card is shortened: Slack did not take the whole one ({escape(refused)})")]


def _draft(state: ThreadState, whole_at: str | None, *, is_short: bool) -> list[Block]:
    """Return the draft of a thread that waits or was answered: whole, or its beginning and where all of it stands."""
    if not state.draft_pending or not (state.status is ThreadStatus.PENDING_USER or state.posted_message_id):
        return []
    if draft_fits(state, is_short=is_short):
        return reply_sections(state.draft_pending)
    beginning = verbatim(truncate(to_mrkdwn(state.draft_pending), BEGINNING_CHARS))
    return [beginning, section(_where_whole(state, state.draft_pending, whole_at))]


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


def _gloss(state: ThreadState, team_language: str) -> list[Block]:
    """Return the translation of a foreign question, or that there is none."""
    ret = state.investigator_return
    if ret is None:
        return []
    if ret.gloss and ret.gloss.strip():
        return [context(truncate(f":globe_with_meridians: {escape(' '.join(ret.gloss.split()))}", GLOSS_CHARS))]
    if is_in_language(state.question, team_language) is not False:
        return []
    said = "Nothing was translated: the question is not in the team's language, and only a model can translate it"
    return [context(f":globe_with_meridians: {said}")]


def _watch(state: ThreadState) -> list[Block]:
    """Return how a long run is watched, once it has begun."""
    path = state.escalation_transcript_path
    if state.status is not ThreadStatus.ESCALATED or path is None:
        return []
    line = watch_line(state.escalation_tmux_session, path)
    return [context(f"To watch it, on the bot's machine: `{escape(line)}`")]


def _waiting(state: ThreadState, draft: Sequence[Block], link_to: LinkTo, patches: Sequence[Block]) -> list[Block]:
    """Return the part of the card that asks the human for a decision."""
    parts: list[Block] = [DividerBlock()]
    if draft:
        parts += [*draft, DividerBlock()]
    parts += _evidence(state, link_to)
    parts += _track_record(state)
    parts += auto_line(state)
    parts += (
        suspect_lines(state.investigator_return.suspect_changes, state.started_at) if state.investigator_return else []
    )
    parts += _not_searched(state)
    parts += _aged_clones(state)
    parts += patches
    parts += objections(state)
    parts += _open_questions(state)
    parts += _doubts(state)
    return parts


def _track_record(state: ThreadState) -> list[Block]:
    """Return what became of drafts like this one, where it was made without a model and nobody has edited it.

    That was measured with questions, so a draft for an alarm has none.
    """
    ret = state.investigator_return
    if is_alert(state):
        return []
    if ret is None or ret.track_record is None or state.has_edited_draft or not state.draft_pending:
        return []
    return [context(f":straight_ruler: {escape(track_record_words(ret.track_record))}")]


def _not_searched(state: ThreadState) -> list[Block]:
    """Return which files the search could not look into: what was not found may stand there."""
    ret = state.investigator_return
    if ret is None or not ret.not_searched:
        return []
    then = "when it is, this is investigated again" if ret.index_unfinished else "`triage doctor` says what to type"
    return [context(f":mag: *Not searched:* {escape(redact(ret.not_searched))} · {then}")]


def _aged_clones(state: ThreadState) -> list[Block]:
    """Return which codebases may have changed since they were fetched."""
    aged = state.investigator_return.aged_clones if state.investigator_return else ()
    return [context(f":clock3: {escape('; '.join(one.words() for one in aged))}")] if aged else []


def _doubts(state: ThreadState) -> list[Block]:
    if not state.stale_reasons:
        return []
    count = len(state.stale_reasons)
    since = "this draft" if state.status is ThreadStatus.PENDING_USER else "this investigation began"
    title = f":warning: *{count} thing{'s' * (count > 1)} changed since {since}*"
    authors = (doubt.by for doubt in state.doubts)
    said = list(zip_longest(state.stale_reasons, authors, fillvalue=""))
    newest_first = Counter(reversed(said)).items()
    lines = [f"\n• {_doubt(*one)}{f' ({times} times)' if times > 1 else ''}" for one, times in newest_first]
    return [section(truncate(title + "".join(lines), ROOMY_SECTION_CHARS))]


def _doubt(reason: str, by: str) -> str:
    """Return a doubt made inert but for the user whom it is about, if there is one."""
    return escape(reason, known_users=(by,) if by else ())


def _evidence(state: ThreadState, link_to: LinkTo) -> list[Block]:
    ret = state.investigator_return
    if ret is None or not ret.evidence_refs or not state.rounds or not state.draft_pending:
        return []
    marks = ref_marks(state.checks, len(ret.evidence_refs))
    shown = list(zip(ret.evidence_refs, marks, strict=True))[:SHOWN_REFS]
    lines = [context(_ref_line(ref, mark, link_to(ref), state.question)) for ref, mark in shown]
    more = len(marks) - SHOWN_REFS
    rest = [context(f"… and {more} more")] if more > 0 else []
    return [context(_evidence_title(marks)), *lines, *rest, *_unsourced(state)]


def _unsourced(state: ThreadState) -> list[Block]:
    """Return which statements of the draft, as the checks saw it, no citation stands beside."""
    said = None if state.has_edited_draft else unsourced_statements(state.checks)
    return [context(f"? {escape(plain(said, UNSOURCED_CHARS))}")] if said else []


def _evidence_title(marks: Sequence[bool | None]) -> str:
    """Return the heading, with a word on each mark that is no ✓."""
    meant = {False: "✗ is not what the source says", None: "? cannot be checked by code"}
    return " · ".join(["*Evidence*", *(words for mark, words in meant.items() if mark in marks)])


def _ref_line(ref: EvidenceRef, mark: bool | None, link: str | None, question: str) -> str:
    """Return a citation: mark, place and claim, the most telling line of its quote, and what that says of itself."""
    name = escape(plain(shown_ref(ref.ref).replace("`", ""), REF_CHARS))
    if ref.kind is EvidenceKind.MEMORY and mark is None:  # proves nothing, and should be known before a click
        return f":bulb: {escape(plain(ref.supports_claim, LESSON_CHARS))} · `{name}`"
    at = f" at {escape(ref.commit[:7])}" if ref.commit else ""
    shown = f"<{link}|{name}>" if link and len(link) <= LINK_CHARS else f"`{name}`"
    claim = escape(plain(ref.supports_claim, CLAIM_CHARS))
    head = f"{_MARKS[mark]} {shown}{at}{f' · {claim}' if claim else ''}"
    quote = redact(strip_hidden(ref.quote)[0])
    return "\n".join([head, *_quoted_line(quote, f"{question} {ref.supports_claim}"), *_standing(quote, ref)])


def _quoted_line(quote: str, about: str) -> list[str]:
    """Return the quote's most telling line as code, and how many lines there are beside it."""
    line = plain(telling_line(quote, about).replace("`", "'"), LINE_CHARS)
    others = sum(bool(each.strip()) for each in quote.split("\n")) - 1
    more = f" and {others} more line{'s' * (others > 1)}" if others > 0 else ""
    return [f"`{escape(line)}`{more}"] if line else []


def _standing(quote: str, ref: EvidenceRef) -> list[str]:
    """Return a warning where a quote calls itself outdated."""
    words = outdated_words(quote, ref.ref if ref.kind is EvidenceKind.FILE else "")
    return [f":warning: *may be outdated*: it says “{escape(plain(words, LINE_CHARS))}”"] if words else []


def _open_questions(state: ThreadState) -> list[Block]:
    ret = state.investigator_return
    if ret is None or not ret.open_questions:
        return []
    lines = "".join(f"\n• {escape(question)}" for question in ret.open_questions)
    return [section(truncate(f"*To answer this, the investigator needs to know*{lines}", ROOMY_SECTION_CHARS))]


def _buttons(state: ThreadState, offers_notes: bool, *, can_approve: bool) -> list[InteractiveElement]:
    """Return what a waiting thread offers; the way out comes first where the asker needs no answer any more."""
    offered = _on_draft(state, can_approve=can_approve) if state.draft_pending else _without_draft(state)
    dismiss, more = _dismiss(state), _overflow(state, offers_notes)
    return [dismiss, *offered, more] if state.is_settled else [*offered, dismiss, more]


def _on_draft(state: ThreadState, *, can_approve: bool) -> list[InteractiveElement]:
    """Return what can be done with a draft; a search result is there to be edited, so Edit comes first."""
    click = _click(state)
    is_search = basis(state) is Basis.SEARCH and not state.has_edited_draft
    leads = is_search and not state.is_settled and not state.stale_reasons
    edit = _button("Edit", ids.EDIT, click, style="primary" if leads else None)
    if not can_approve:
        return [edit]
    if state.stale_reasons:
        approve = _button("Post anyway", ids.APPROVE, click, style="danger")
    elif state.pending_reason is PendingReason.DISAGREEMENT:
        approve = _button("Approve", ids.APPROVE, click, style="danger", confirm=_despite_objections())
    else:
        approve = _button("Approve", ids.APPROVE, click, style=None if is_search else "primary")
    too = _answer_too(state, approve)
    return [edit, approve, *too] if is_search else [approve, *too, edit]


def _answer_too(state: ThreadState, approve: ButtonElement) -> list[ButtonElement]:
    """Return the button that posts the draft in the threads of the twins as well; it is bound to those shown."""
    count = len(state.shown_twins)
    if not count:
        return []
    value = ids.encode_click(click_of(state, with_twins=True))
    label = f"Answer there too ({count})"
    return [_button(label, ids.ANSWER_TOO, value, style=approve.style, confirm=approve.confirm)]


def _without_draft(state: ThreadState) -> list[InteractiveElement]:
    click, settled = _click(state), state.is_settled
    write = _button("Write reply", ids.EDIT, click)
    if state.pending_reason is PendingReason.FAILED and not settled:
        again = _button("Re-investigate", ids.REINVESTIGATE, click, style="primary")
        return [again, _button("Add context", ids.ADD_CONTEXT, click), write]
    return [_button("Add context", ids.ADD_CONTEXT, click, style=None if settled else "primary"), write]


def _buttons_meanwhile(state: ThreadState) -> list[InteractiveElement]:
    """Return what can be done while an investigation runs."""
    context = _button("Add context", ids.ADD_CONTEXT, _click(state))
    return [_dismiss(state), context] if state.is_settled else [context, _dismiss(state)]


def _dismiss(state: ThreadState) -> ButtonElement:
    """Return the way out; it comes first where the asker needs no answer any more."""
    click = ids.encode_click(click_of(state, with_twins=True))
    return _button("Dismiss", ids.DISMISS, click, style="primary" if state.is_settled else None)


def _overflow(state: ThreadState, offers_notes: bool) -> OverflowMenuElement:
    click = click_of(state)
    names = {
        ids.REINVESTIGATE: "Re-investigate",
        ids.ADD_CONTEXT: "Add context",
        ids.ESCALATE: "Escalate",
        ids.SHOW_EVIDENCE: "Show evidence",
    }
    ret = state.investigator_return
    if offers_notes and ret and ret.proposed_triage_file and not state.triage_file_path:
        names[ids.SAVE_NOTE] = "Save note"
    return OverflowMenuElement(
        action_id=ids.MORE,
        options=[Option(text=name, value=ids.encode_option(action, click)) for action, name in names.items()],
    )


def _despite_objections() -> ConfirmObject:
    return ConfirmObject(
        title="Post despite the objections?",
        text=MarkdownTextObject(text="The checks did not pass this draft. Post it anyway?"),
        confirm="Post it",
        deny="Back",
    )


def _click(state: ThreadState) -> str:
    return ids.encode_click(click_of(state))


def _button(
    label: str, action: str, value: str, *, style: str | None = None, confirm: ConfirmObject | None = None
) -> ButtonElement:
    return ButtonElement(text=label, action_id=action, value=value, style=style, confirm=confirm)


def _actions(state: ThreadState, elements: list[InteractiveElement]) -> ActionsBlock:
    return ActionsBlock(elements=elements, block_id=f"actions:{state.thread_id}:{state.draft_version}")
