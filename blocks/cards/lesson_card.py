"""What the card of a closed thread offers to remember, and the dialogue in which a person reads it first. Pure."""

from __future__ import annotations

from slack_sdk.models.blocks import (
    ActionsBlock,
    Block,
    ButtonElement,
    ContextBlock,
    InputBlock,
    MarkdownTextObject,
    PlainTextInputElement,
)
from slack_sdk.models.views import View

from blocks import ids
from blocks.modals.dialogue import form
from blocks.text.escaping import local_time
from blocks.text.outgoing_text import escape, truncate
from bot.casework.card_marks import LessonMark
from bot.casework.decisions import DraftClick
from bot.domain.memory.lessons import MAX_WORDS_CHARS, Lesson, decided_by
from bot.domain.memory.notes import NoteKind
from bot.domain.threads import ThreadState

REF_CHARS = 200
_WHAT = {NoteKind.DISMISSAL: "dismissed", NoteKind.CORRECTION: "edited and posted"}


def lesson_blocks(mark: LessonMark, click: DraftClick) -> list[Block]:
    """Return the offer, or what the lesson is remembered as; nothing where there is none."""
    if mark.remembered_as:
        ref = escape(truncate(mark.remembered_as.replace("`", ""), REF_CHARS))
        return [ContextBlock(elements=[MarkdownTextObject(text=f":file_folder: remembered as `{ref}`")])]
    if not mark.is_offered:
        return []
    button = ButtonElement(text="Remember this", action_id=ids.REMEMBER, value=ids.encode_click(click))
    return [ActionsBlock(elements=[button], block_id=f"remember:{click.thread_id}:{click.version}")]


def remember_modal(click: DraftClick, state: ThreadState, lesson: Lesson) -> View:
    """Return the proposed note, to be changed; nothing is kept before it is submitted."""
    who = decided_by(state)
    by = f" by <@{who}>" if who else ""
    at = f" on {local_time(state.closed_at)}" if state.closed_at else ""
    said = (
        f"{_WHAT[lesson.kind].capitalize()}{by}{at}. Whoever looks into a similar question reads this first, "
        "as a lesson from a draft and not as a fact. Correct it if needed. It is saved only when you press Remember."
    )
    text = PlainTextInputElement(
        action_id=ids.INPUT, multiline=True, initial_value=lesson.words, max_length=MAX_WORDS_CHARS
    )
    return form(
        ids.REMEMBER_VIEW,
        ids.encode_click(click),
        title="Remember this",
        submit="Remember",
        blocks=[
            ContextBlock(elements=[MarkdownTextObject(text=said)]),
            InputBlock(block_id=ids.LESSON, label="What the next investigation should know", element=text),
        ],
    )
