"""A proposed patch: one line on the card, the diff in the evidence dialogue. Pure; nothing here applies it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from slack_sdk.models.blocks import Block

from blocks.text.outgoing_text import SECTION_CHARS, context, escape, fence, plain, section
from bot.domain.questions.patches import patch_lines, patch_summary, proposes_nothing
from bot.domain.returns import ProposedPatch
from bot.domain.secrets import redact

SUMMARY_CHARS: Final = 600
RATIONALE_CHARS: Final = 600
SHOWN_LINES: Final = 120
LINES_A_SECTION: Final = 40


def patch_line(patch: ProposedPatch | None, *, is_open: bool = False) -> list[Block]:
    """Return the card's line that there is a patch; nothing where there is none. `is_open`: a request proposes it."""
    if patch is None or proposes_nothing(patch):
        return []
    said = escape(plain(patch_summary(patch), SUMMARY_CHARS))
    return [context(f":wrench: *Proposed patch*: {said}{'' if is_open else '. Not applied'}")]


def patch_blocks(patch: ProposedPatch | None, known_secrets: Collection[str] = ()) -> list[Block]:
    """Return a patch whole, as far as a dialogue has room, with why it is proposed."""
    if patch is None or proposes_nothing(patch):
        return []
    why = escape(plain(redact(patch.rationale, known_secrets), RATIONALE_CHARS))
    head = f"*Proposed patch* · {escape(plain(patch_summary(patch, known_secrets), SUMMARY_CHARS))}"
    lines, left = patch_lines(patch, known_secrets, at_most=SHOWN_LINES)
    note = f"… {left} more line{'s' * (left != 1)}; " if left else ""
    return [
        section(f"{head}{chr(10) + 'why: ' + why if why else ''}"),
        *_diff(lines),
        context(f"{note}a proposal, not applied: `triage why` on the bot's machine shows it too"),
    ]


def _diff(lines: list[str]) -> list[Block]:
    """Return the lines as code blocks, each as long as a section may be."""
    parts: list[Block] = []
    shown: list[str] = []
    for line in lines:
        if shown and (len(shown) == LINES_A_SECTION or len(_code([*shown, line])) > SECTION_CHARS):
            parts.append(section(_code(shown)))
            shown = []
        shown.append(line)
    return [*parts, section(_code(shown))] if shown else parts


def _code(lines: list[str]) -> str:
    return fence("\n".join(lines))
