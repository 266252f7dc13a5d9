"""The card that asks whether a note still holds."""

from __future__ import annotations

from blocks.cards.recheck_card import recheck_blocks
from bot.domain.citations.links import code_links
from bot.domain.memory.notes import NoteCitation
from bot.domain.memory.rechecks import ChangedLines, Recheck, RecheckOutcome
from demo.workspace import ANA, BEN
from tests.builders import NOW
from tests.gallery.scene import Chapter, Scene

_LINKS = code_links("git@github.com:acme/shop.git")
_OLD = NoteCitation(
    path="config/warehouse.toml", lines="3-5", commit="4f1c2d9e" * 5, quote="[timeouts]\nconnect = 2\nread = 10"
)
_NEW = _OLD.model_copy(update={"commit": "9b0d7e1c" * 5, "quote": "[timeouts]\nconnect = 2\nread = 30"})
_RECHECK = Recheck(
    id="00112233aabbccdd",
    ref="memory/warehouse-timeouts.md",
    title="How long we wait for the warehouse",
    excerpt="2 s to connect, 10 s to read.",
    saved_by=BEN.user_id,
    saved_at="2026-10-02T09:00:00Z",
    head="9b0d7e1c" * 5,
    changes=(ChangedLines(cite=_OLD, now=_NEW),),
    at=NOW,
)

NOTES = Chapter(
    title="A note whose lines changed",
    about=(
        "A saved note cites lines of code. Once they change, the ops channel is asked whether the note is still true."
    ),
    scenes=(
        Scene(
            name="recheck",
            title="Is this note still true?",
            meaning="What the note says, what its lines said and what they say now. Until somebody decides, it is "
            "found with a warning and proves nothing.",
            shows=recheck_blocks(_RECHECK, link_to=_LINKS),
            said=(_RECHECK.title, _RECHECK.excerpt),
        ),
        Scene(
            name="recheck-kept",
            title="Still true",
            meaning="Somebody read it; it cites today's lines from now on.",
            shows=recheck_blocks(_RECHECK.decided(RecheckOutcome.KEPT, ANA.user_id, NOW), link_to=_LINKS),
        ),
        Scene(
            name="recheck-retired",
            title="Retired",
            meaning="It is no longer searched; the file is still there.",
            shows=recheck_blocks(_RECHECK.decided(RecheckOutcome.RETIRED, ANA.user_id, NOW), link_to=_LINKS),
        ),
    ),
)
