"""The card in the ops channel: one per thread, from the first glance to the posted reply.

Shows the question, the draft exactly as it would be posted, every citation with its mark, and the buttons that the
thread's status allows. A closed thread keeps its card; its one button offers to remember what people made of the draft.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

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
from blocks.badge import status_line
from blocks.lessons import lesson_blocks
from blocks.objections import objections
from blocks.parts import context, section
from blocks.reply import reply_sections
from blocks.text import escape, inert, plain, quote, truncate
from bot.casework.checks import ref_marks
from bot.casework.decisions import Click
from bot.casework.freshness import is_settled
from bot.casework.lessons import NO_LESSON, LessonMark
from bot.domain.escalation import watch_line
from bot.domain.language import is_in_language
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.threads import PendingReason, Status, ThreadState

LinkTo = Callable[[EvidenceRef], str | None]

QUESTION_CHARS = 1_200
GLOSS_CHARS = 600
SHOWN_REFS = 8
TEXT_CHARS = 2_900
REF_CHARS = 90
LINK_CHARS = 400
CLAIM_CHARS = 120
LESSON_CHARS = 300
_USER = re.compile(r"<@(\w+)>")
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
) -> list[Block]:
    """Return the blocks of a thread's card; `progress` is plain text on the run under way.

    `paused` says who stopped all work. With `offers_notes` the overflow menu has an entry to save the note that the
    investigation proposes.
    """
    parts: list[Block] = [_question(state), *_gloss(state, team_language)]
    parts.append(context(status_line(state, progress=progress)))
    if paused and state.is_open:
        waits = "what has not begun waits for `/triage resume`"
        parts.append(context(f":double_vertical_bar: *{escape(paused)}* · {waits}"))
    if state.triage_file_path:
        parts.append(context(f":file_folder: note saved as `{escape(state.triage_file_path)}`"))
    if state.status is Status.PENDING_USER:
        parts += [*_waiting(state, link_to), _actions(state, _buttons(state, offers_notes))]
    elif state.is_open:
        parts += [*_doubts(state), *_watch(state), _actions(state, _buttons_meanwhile(state))]
    elif state.posted_message_id and state.draft_pending:
        parts += [DividerBlock(), *reply_sections(state.draft_pending)]
    return [*parts, *lesson_blocks(lesson, click_of(state))]


def card_text(state: ThreadState) -> str:
    """Return the card's one line for notifications and screen readers."""
    return truncate(f"{status_line(state)}: {' '.join(inert(state.question).split())}", 300)


def click_of(state: ThreadState) -> Click:
    """Return the click that the buttons of the current card carry."""
    return Click(
        thread_id=state.thread_id,
        version=state.draft_version,
        draft_hash=state.draft_hash or "",
        seen=min(len(state.stale_reasons), ids.MAX_SEEN),
    )


def _question(state: ThreadState) -> Block:
    where = f"<#{state.chat_id}>"
    link = f" · <{state.permalink}|open thread>" if state.permalink else ""
    asked = truncate(inert(state.question), QUESTION_CHARS) or "(no text)"
    return SectionBlock(
        text=MarkdownTextObject(text=f"*<@{state.original_sender_id}>* asked in {where}{link}\n{quote(asked)}"),
        block_id=ids.card_block_id(state.thread_id),
    )


def _gloss(state: ThreadState, team_language: str) -> list[Block]:
    """Return the translation of a foreign question, or that there is none."""
    ret = state.investigator_return
    if ret is None:
        return []
    if ret.gloss and ret.gloss.strip():
        return [context(truncate(f":globe_with_meridians: {escape(' '.join(ret.gloss.split()))}", GLOSS_CHARS))]
    is_foreign = is_in_language(state.question, team_language) is False
    return [context(":globe_with_meridians: not translated")] if is_foreign else []


def _watch(state: ThreadState) -> list[Block]:
    """Return how a long run is watched, once it has begun."""
    path = state.escalation_transcript_path
    if state.status is not Status.ESCALATED or path is None:
        return []
    line = watch_line(state.escalation_tmux_session, path)
    return [context(f"To watch it, on the bot's machine: `{escape(line)}`")]


def _waiting(state: ThreadState, link_to: LinkTo) -> list[Block]:
    """Return the part of the card that asks the human for a decision."""
    parts: list[Block] = [DividerBlock()]
    if state.draft_pending:
        parts += [*reply_sections(state.draft_pending), DividerBlock()]
    parts += _evidence(state, link_to)
    parts += objections(state)
    parts += _open_questions(state)
    parts += _doubts(state)
    return parts


def _doubts(state: ThreadState) -> list[Block]:
    if not state.stale_reasons:
        return []
    count = len(state.stale_reasons)
    since = "this draft" if state.status is Status.PENDING_USER else "this investigation began"
    title = f":warning: *{count} thing{'s' * (count > 1)} changed since {since}*"
    newest_first = Counter(reversed(state.stale_reasons)).items()
    lines = [f"\n• {_doubt(reason)}{f' ({times} times)' if times > 1 else ''}" for reason, times in newest_first]
    return [section(truncate(title + "".join(lines), TEXT_CHARS))]


def _doubt(reason: str) -> str:
    """Return a doubt made inert but for the user that our own words begin with."""
    return escape(reason, known_users=_USER.findall(reason)[:1] if reason.startswith("<@") else ())


def _evidence(state: ThreadState, link_to: LinkTo) -> list[Block]:
    ret = state.investigator_return
    if ret is None or not ret.evidence_refs or not state.rounds or not state.draft_pending:
        return []
    marks = ref_marks(state.checks, len(ret.evidence_refs))
    lines = [_ref_line(ref, mark, link_to(ref)) for ref, mark in zip(ret.evidence_refs, marks, strict=True)]
    return [context(truncate("\n".join([_evidence_title(marks), *lines[:SHOWN_REFS]]), TEXT_CHARS))]


def _evidence_title(marks: Sequence[bool | None]) -> str:
    """Return the heading, with a word on each mark that is no ✓."""
    meant = {False: "✗ is not what the source says", None: "? cannot be checked by code"}
    return " · ".join(["*Evidence*", *(words for mark, words in meant.items() if mark in marks)])


def _ref_line(ref: EvidenceRef, mark: bool | None, link: str | None) -> str:
    name = escape(plain(ref.ref.replace("`", ""), REF_CHARS))
    if ref.kind is EvidenceKind.MEMORY and mark is None:  # proves nothing, and should be known before a click
        return f":bulb: {escape(plain(ref.supports_claim, LESSON_CHARS))} · `{name}`"
    at = f" at {escape(ref.commit[:7])}" if ref.commit else ""
    shown = f"<{link}|{name}>" if link and len(link) <= LINK_CHARS else f"`{name}`"
    claim = escape(plain(ref.supports_claim, CLAIM_CHARS))
    return f"{_MARKS[mark]} {shown}{at}{f' · {claim}' if claim else ''}"


def _open_questions(state: ThreadState) -> list[Block]:
    ret = state.investigator_return
    if ret is None or not ret.open_questions:
        return []
    lines = "".join(f"\n• {escape(question)}" for question in ret.open_questions)
    return [section(truncate(f"*To answer this, the investigator needs to know*{lines}", TEXT_CHARS))]


def _buttons(state: ThreadState, offers_notes: bool) -> list[InteractiveElement]:
    click = _click(state)
    approve = _button("Approve", ids.APPROVE, click, style="primary")
    if state.stale_reasons:
        approve = _button("Post anyway", ids.APPROVE, click, style="danger")
    elif state.pending_reason is PendingReason.DISAGREEMENT:
        approve = _button("Approve", ids.APPROVE, click, style="danger", confirm=_despite_objections())
    settled = is_settled(state)
    context = _button("Add context", ids.ADD_CONTEXT, click, style=None if settled else "primary")
    edit = _button("Edit" if state.draft_pending else "Write reply", ids.EDIT, click)
    offered = [approve, edit] if state.draft_pending else [context, edit]
    if state.pending_reason is PendingReason.FAILED and not state.draft_pending and not settled:
        again = _button("Re-investigate", ids.REINVESTIGATE, click, style="primary")
        offered = [again, _button("Add context", ids.ADD_CONTEXT, click), edit]
    dismiss, more = _dismiss(state), _overflow(state, offers_notes)
    return [dismiss, *offered, more] if settled else [*offered, dismiss, more]


def _buttons_meanwhile(state: ThreadState) -> list[InteractiveElement]:
    """Return what can be done while an investigation runs."""
    context = _button("Add context", ids.ADD_CONTEXT, _click(state))
    return [_dismiss(state), context] if is_settled(state) else [context, _dismiss(state)]


def _dismiss(state: ThreadState) -> ButtonElement:
    """Return the way out; it comes first where the asker needs no answer any more."""
    return _button("Dismiss", ids.DISMISS, _click(state), style="primary" if is_settled(state) else None)


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
        text=MarkdownTextObject(text="The checks did not pass this draft. Post it as it stands?"),
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
