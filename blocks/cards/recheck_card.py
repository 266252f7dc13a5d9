"""The card of a note whose cited lines changed. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from slack_sdk.models.blocks import ActionsBlock, Block

from blocks import ids
from blocks.elements import actions, button
from blocks.text.message_size import fit_message
from blocks.text.outgoing_text import context, escape, fence, inline_code, plain, quote_block, section
from blocks.text.splitting import FENCE, LINK_CHARS, truncate
from bot.domain.citations.citation_lines import shown_ref
from bot.domain.citations.links import LinkTo
from bot.domain.memory.notes import NoteCitation
from bot.domain.memory.rechecks import ChangedLines, Recheck, RecheckOutcome
from bot.domain.text.sanitize import strip_hidden

SHOWN_CHANGES: Final = 3
SHOWN_LINES: Final = 8
LINE_CHARS: Final = 140
TITLE_CHARS: Final = 120
EXCERPT_CHARS: Final = 300
REF_CHARS: Final = 160
_USER: Final = re.compile(r"[UW][A-Z0-9]+")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def recheck_blocks(recheck: Recheck, *, link_to: LinkTo) -> list[Block]:
    """Return the card as the recheck stands; decided, it is three lines."""
    marker = ids.recheck_block_id(recheck.id)
    if recheck.outcome is not RecheckOutcome.OPEN:
        where = context(inline_code(recheck.retired_as or recheck.ref, REF_CHARS))
        return [section(f"{_ending(recheck)}\n{quote_block(_title(recheck))}", block_id=marker), where]
    said = quote_block(f"{_title(recheck)}\n{escape(_excerpt(recheck))}")
    head = f":mag: *Is this note still true?* The lines it cites changed.\n{said}"
    shown = [section(_change(change, link_to)) for change in recheck.changes[:SHOWN_CHANGES]]
    more = len(recheck.changes) - SHOWN_CHANGES
    rest = [context(f"{more} more of its citations changed.")] if more > 0 else []
    parts = [section(head, block_id=marker), *shown, *rest, context(_meanwhile(recheck)), _buttons(recheck)]
    return fit_message(parts)


def recheck_text(recheck: Recheck) -> str:
    """Return the one line for notifications and screen readers."""
    return truncate(escape(f"Is this note still true? {plain(recheck.title, 200)}"), 300)


def _title(recheck: Recheck) -> str:
    return f"*{escape(plain(recheck.title.replace(FENCE, ''), TITLE_CHARS))}*"


def _excerpt(recheck: Recheck) -> str:
    return plain(recheck.excerpt.replace("\n> ", " ").replace(FENCE, ""), EXCERPT_CHARS)


def _change(change: ChangedLines, link_to: LinkTo) -> str:
    """Return what became of one citation: where it stood, then what was taken out and put in."""
    if change.now is None:
        return (
            f"{_place(change.cite, link_to)}: those lines are gone. They said:\n{fence(_lines('-', change.cite.quote))}"
        )
    now = _place(change.now, link_to) if link_to(change.now.as_evidence()) else f"at `{escape(change.now.commit[:7])}`"
    return f"{_place(change.cite, link_to)} changed, now {now}:\n{fence(_difference(change.cite, change.now))}"


def _place(cite: NoteCitation, link_to: LinkTo) -> str:
    link = link_to(cite.as_evidence())
    name = escape(plain(shown_ref(cite.ref).replace("`", ""), REF_CHARS))
    shown = f"<{link}|{name}>" if link and len(link) <= LINK_CHARS else f"`{name}`"
    return f"{shown} at `{escape(cite.commit[:7])}`"


def _difference(old: NoteCitation, new: NoteCitation) -> str:
    diff = difflib.unified_diff(old.quote.split("\n"), new.quote.split("\n"), n=1, lineterm="")
    return _fitting(line for line in islice(diff, 2, None) if not line.startswith("@@"))  # 2 lines of file names


def _lines(sign: str, text: str) -> str:
    return _fitting(f"{sign}{line}" for line in text.split("\n"))


def _fitting(lines: Iterator[str]) -> str:
    clean = [strip_hidden(line)[0].replace("\n", " ") for line in lines]  # no line passes for a second one
    kept = [line if len(line) <= LINE_CHARS else f"{line[: LINE_CHARS - 1]}…" for line in clean]
    return "\n".join([*kept[:SHOWN_LINES], *(["…"] if len(kept) > SHOWN_LINES else [])])


def _meanwhile(recheck: Recheck) -> str:
    by = f" by <@{recheck.saved_by}>" if _USER.fullmatch(recheck.saved_by or "") else ""
    on = f" on {recheck.saved_at[:10]}" if recheck.saved_at and _DAY.match(recheck.saved_at) else ""
    until = "Until somebody decides, search shows it last, with a warning, and it is not evidence."
    return f"{inline_code(recheck.ref, REF_CHARS)} · kept{by}{on}. {until}"


def _ending(recheck: Recheck) -> str:
    who = f"<@{recheck.decided_by}>"
    if recheck.outcome is RecheckOutcome.KEPT:
        at = f"`{recheck.head[:7]}`"
        return f":white_check_mark: *Still true*, confirmed by {who}; it cites the lines as they are at {at}"
    if recheck.outcome is RecheckOutcome.RETIRED:
        return f":file_cabinet: *Retired* by {who}; it is no longer searched"
    if recheck.outcome is RecheckOutcome.GONE:
        return ":heavy_minus_sign: The note was removed; nothing to decide"
    return ":heavy_minus_sign: The lines are back, or the note cites others now; there is nothing to decide"


def _buttons(recheck: Recheck) -> ActionsBlock:
    keep, retire = button("Still true", ids.STILL_TRUE, recheck.id), button("Retire", ids.RETIRE, recheck.id)
    return actions(f"recheck_actions:{recheck.id}", keep, retire)
