"""The dialogues behind the buttons."""

from __future__ import annotations

from datetime import timedelta

from slack_sdk.models.views import View

from blocks import ids
from blocks.cards.alert_card import playbook_modal, reject_modal
from blocks.cards.draft_actions import click_of, context_modal, dismiss_modal, edit_modal, note_modal, same_as_modal
from blocks.cards.evidence_modal import evidence_modal
from bot.casework.checks.addresses import ShownCitation
from bot.casework.checks.sources import Lines, Missing
from bot.domain.citations.links import code_links
from bot.domain.returns import EvidenceKind, EvidenceRef
from demo.workspace import HELP
from tests.gallery.cards import DRAFT, FILE, LOG, drafted
from tests.gallery.offers import OFFER
from tests.gallery.scene import Chapter, Scene

PLAYBOOK = """# Heartbeat of shop

## Timestamps
- Last quick: 2026-11-20T08:30:00Z
- Last hourly: 2026-11-20T08:30:00Z
- Last daily: 2026-11-19T09:00:00Z

## Quick Tasks (every heartbeat)
- [x] Production config: `python3 scripts/check_config.py`

## Hourly Tasks
- [x] New commits on main: `git log --oneline --max-count=20 origin/main`
- [ ] Disk: `df -h`
"""
_STATE = drafted()
_OTHER = drafted(chat_name=HELP.name, question="Why do pick lists time out?")
_COMMIT = EvidenceRef(
    kind=EvidenceKind.GIT_COMMIT,
    ref="9b0d7e1c44" + "0" * 30,
    quote="Wait longer for pick lists",
    supports_claim="Since when, and who asked for it.",
)
_LINES = tuple(FILE.quote.split("\n"))
_MESSAGE = (_COMMIT.quote,)
_CITATIONS = (
    ShownCitation(FILE, True, "", Lines(lines=_LINES, shown=_LINES, start=3, path=FILE.ref, place="program")),
    ShownCitation(
        _COMMIT, True, "", Lines(lines=_MESSAGE, shown=_MESSAGE, commit=_COMMIT.ref, about="Ana Silva, 2026-03-02")
    ),
    ShownCitation(LOG, None, "it names no lines of the result", Missing("it names no lines of the result", None)),
)


def _remember() -> View:
    words = "# Timeouts of the warehouse\n\n45 s for pick lists, else 10 s.\n\nSources:\n- config/warehouse.toml:3-7"
    return note_modal(ids.REMEMBER_VIEW, ids.CLICK.encode(click_of(_STATE)), words)


DIALOGUES = Chapter(
    title="The dialogues",
    about="Each belongs to one draft or one suggestion: if that changed meanwhile, you are told and nothing is lost.",
    scenes=(
        Scene(
            name="edit",
            title="Edit",
            meaning="*Post now* posts your words; the box keeps them on the card for now.",
            shows=edit_modal(click_of(_STATE), DRAFT),
        ),
        Scene(
            name="dismiss",
            title="Dismiss",
            meaning="Closes the card and posts nothing. The reason may stay empty.",
            shows=dismiss_modal(click_of(_STATE)),
        ),
        Scene(
            name="add-context",
            title="Add context",
            meaning="What neither code nor message says. A new investigation knows it.",
            shows=context_modal(click_of(_STATE)),
        ),
        Scene(
            name="same-as",
            title="Same as…",
            meaning="For a question that another open one asks in other words: choose that one.",
            shows=same_as_modal(click_of(_STATE), [(_OTHER, timedelta(minutes=12))]),
        ),
        Scene(
            name="evidence",
            title="Evidence",
            meaning="Every citation with the lines at its address, printed by code.",
            shows=evidence_modal(_STATE.thread_id, _CITATIONS, code_links("git@github.com:acme/shop.git")),
        ),
        Scene(
            name="remember",
            title="Save note, Remember this",
            meaning="What stands here when you press *Save* is what is kept.",
            shows=_remember(),
        ),
        Scene(
            name="playbook",
            title="HEARTBEAT.md",
            meaning="The file as it lies on disk, to read.",
            shows=playbook_modal("Shop", PLAYBOOK),
        ),
        Scene(
            name="reject-suggestion",
            title="Reject a suggestion",
            meaning="It is not offered to this session again.",
            shows=reject_modal(OFFER),
        ),
    ),
)
