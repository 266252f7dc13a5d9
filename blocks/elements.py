"""The parts that cards and dialogues are made of: buttons, menus, inputs, and the frame of a dialogue. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from slack_sdk.models.blocks import (
    ActionsBlock,
    Block,
    ButtonElement,
    ConfirmObject,
    InputBlock,
    InteractiveElement,
    MarkdownTextObject,
    Option,
    PlainTextInputElement,
    SectionBlock,
    StaticSelectElement,
)
from slack_sdk.models.views import View

from blocks import ids
from blocks.text.outgoing_text import plain
from blocks.text.splitting import INPUT_CHARS
from bot.domain.text.sanitize import without_marks

_SIGNS: Final = re.compile(r":[a-z0-9_+-]{1,40}:|<[^>|]{0,300}\|?|&[a-z]{2,4};|[>*_~`]")
"""What a section's mrkdwn has besides words."""

TITLE_CHARS = 24
"""Slack's limit."""

MAX_OPTIONS = 100
"""Of a menu.  Source: https://docs.slack.dev/reference/block-kit/block-elements/select-menu-element"""

SPOKEN_CHARS = 75
"""Of a button's name for screen readers.  Source: https://docs.slack.dev/reference/block-kit/block-elements/button-element"""

OPTION_CHARS = 75
"""Of an option's text.  Source: https://docs.slack.dev/reference/block-kit/composition-objects/option-object"""


def button(
    label: str, action: str, value: str, *, style: str | None = None, confirm: ConfirmObject | None = None
) -> ButtonElement:
    """Return a button."""
    return ButtonElement(text=label, action_id=action, value=value, style=style, confirm=confirm)


def with_spoken_names(blocks: Sequence[Block], *, by_part: bool = False) -> Sequence[Block]:
    """Return blocks whose buttons have a name for screen readers that tells one card's from another's.

    A button beside a text is named with that text; one in a row with the message's first text, or `by_part` with the
    text above it.
    """
    about = ""
    for block in blocks:
        said = block.text.text if isinstance(block, SectionBlock) and block.text else ""
        about = said if said and (by_part or not about) else about
        beside = [block.accessory] if isinstance(block, SectionBlock) else []
        for element in block.elements if isinstance(block, ActionsBlock) else beside:
            if isinstance(element, ButtonElement) and element.text is not None:
                spoken = f"{element.text.text}: {_SIGNS.sub(' ', said or about)}"
                element.accessibility_label = plain(spoken, SPOKEN_CHARS)
    return blocks


def menu(action: str, placeholder: str, choices: Iterable[tuple[str, str]]) -> StaticSelectElement:
    """Return a menu; `choices` are the label and the value of each."""
    options = [Option(text=label, value=value) for label, value in choices]
    return StaticSelectElement(action_id=action, placeholder=placeholder, options=options)


def actions(block_id: str, *elements: InteractiveElement) -> ActionsBlock:
    """Return a row of buttons and menus."""
    return ActionsBlock(elements=list(elements), block_id=block_id)


def confirmation(title: str, text: str, *, yes: str, no: str) -> ConfirmObject:
    """Return what is asked before a click on a button counts; `text` is mrkdwn."""
    return ConfirmObject(title=title, text=MarkdownTextObject(text=text), confirm=yes, deny=no)


def initial_text(markdown: str) -> str:
    """Return what an input shows before somebody changes it: nothing hidden, no mark, code blocks as they are."""
    return without_marks(markdown, keep_emoji=True, keep_fences=True)


def text_input(block_id: str, label: str, *, text: str | None = None, at_most: int = INPUT_CHARS) -> InputBlock:
    """Return an input of several lines, pre-filled with `text`, that takes at most so many characters."""
    value = text and initial_text(text)[:at_most]
    field = PlainTextInputElement(action_id=ids.INPUT, multiline=True, initial_value=value, max_length=at_most)
    return InputBlock(block_id=block_id, label=label, element=field)


def reason_input(label: str, examples: str, at_most: int) -> InputBlock:
    """Return an input of one line for a reason, which may stay empty."""
    field = PlainTextInputElement(action_id=ids.INPUT, placeholder=examples, max_length=at_most)
    return InputBlock(block_id=ids.REASON, label=label, element=field, optional=True)


def form(callback_id: str, metadata: str, *, title: str, submit: str, blocks: Sequence[Block]) -> View:
    """Return a dialogue to be submitted; `metadata` comes back with it."""
    return View(
        type="modal",
        callback_id=callback_id,
        private_metadata=metadata,
        title=plain(title, TITLE_CHARS),
        submit=submit,
        close="Cancel",
        blocks=blocks,
    )


def notice(title: str, blocks: Sequence[Block]) -> View:
    """Return a dialogue to read."""
    return View(type="modal", title=plain(title, TITLE_CHARS), close="Close", blocks=blocks)
