"""The facts above a note are ours, whatever people, models and hostile text put there."""

from __future__ import annotations

import json

from bot.domain.memory.notes import (
    MAX_CITES,
    NoteCitation,
    NoteHeader,
    NoteKind,
    cites_of,
    note_text,
    note_words,
)
from bot.domain.returns import EvidenceKind, EvidenceRef
from tests.tables import each_row

CITE = NoteCitation(path="app/retry.py", lines="3-4", commit="a" * 40, quote="LIMIT = 5\n---\nx: 1")
TOKEN = "xoxb-" + "123456789012-1234567890123-abcdefABCDEF0123456789ab"


def a_file(ref: str = "app/retry.py:3-4", **changes: object) -> EvidenceRef:
    return EvidenceRef.model_validate(
        {"kind": EvidenceKind.FILE, "ref": ref, "commit": "a" * 40, "quote": "LIMIT = 5", **changes}
    )


def test_what_was_written_is_read_back() -> None:
    """Kind and the lines it rests on, whatever stands in the quotes; what else is written there is passed over."""
    facts_of = {"kind": NoteKind.DISMISSAL, "saved_by": "U1", "rechecks": ["0011"], "cites": [CITE.model_dump()]}
    text = note_text("# Retries", facts_of)
    facts = NoteHeader.read(text)
    assert (facts.kind, facts.cites) == (NoteKind.DISMISSAL, (CITE,))
    assert note_words(text) == "# Retries\n"


@each_row(
    "text",
    [
        "",
        "# Only words",
        "---\ntitle: Theirs\ntags: [a, b]\n---\n\nwords",
        '---\nkind: "verdict"\ncites: "all"\nsaved_by: 7\n---\n\nwords',
        "---\ncites: [[[[\n---\n\nwords",
        f"---\ncites: {'[' * 100_000}\n---\n\nwords",
        '---\nkind: ["note"]\ncites: [{}, 3, null]\n---\nwords',
    ],
)
def test_a_note_of_peoples_own_cites_nothing(text: str) -> None:
    """What is not ours is passed over."""
    assert NoteHeader.read(text) == NoteHeader()


@each_row(
    "changes",
    [
        {"path": "../etc/passwd"},
        {"path": "/etc/passwd"},
        {"lines": "x"},
        {"commit": "HEAD"},
        {"quote": ""},
        {"lines": "0"},
    ],
)
def test_a_citation_that_cannot_be_one_is_left_out(changes: dict[str, str]) -> None:
    """Paths stay inside the codebase, commits are ids."""
    broken = {**CITE.model_dump(), **changes}
    text = f"---\ncites: {json.dumps([broken, CITE.model_dump()])}\n---\n\nwords"
    assert NoteHeader.read(text).cites == (CITE,)


def test_only_pinned_lines_of_files_are_kept() -> None:
    """No other kind, nothing without a commit, no secret, and eight at most."""
    refs = [
        a_file(),
        a_file(kind=EvidenceKind.MEMORY),
        a_file(commit=None),
        a_file("nonsense"),
        a_file(quote=f"token = {TOKEN}"),
        a_file(quote="the word is correct-horse-battery"),
    ]
    assert [cite.ref for cite in cites_of(refs, {"correct-horse-battery"})] == ["app/retry.py:3-4"]
    assert len(cites_of([a_file()] * 20)) == MAX_CITES
