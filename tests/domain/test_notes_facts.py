"""The facts above a note are ours, whatever people, models and hostile text put there."""

from __future__ import annotations

import json

from bot.domain.notes import (
    MAX_CITES,
    NAMED,
    UNKNOWN,
    NoteCitation,
    StaleCitations,
    addresses_in,
    note_text,
    note_words,
    read_cites,
    stale_lines_notice,
)
from bot.domain.returns import EvidenceKind, EvidenceRef
from tests.tables import each_row

CITE = NoteCitation(path="app/retry.py", lines="3-4", commit="a" * 40, quote="LIMIT = 5\n---\nx: 1")


def a_file(ref: str = "app/retry.py:3-4", **changes: object) -> EvidenceRef:
    return EvidenceRef.model_validate(
        {"kind": EvidenceKind.FILE, "ref": ref, "commit": "a" * 40, "quote": "LIMIT = 5", **changes}
    )


def test_what_was_written_is_read_back() -> None:
    """The lines it rests on, whatever stands in the quotes; what lessons of earlier releases say is passed over."""
    facts_of = {"kind": "dismissal", "saved_by": "U1", "rechecks": ["0011"], "cites": [CITE.model_dump()]}
    text = note_text("# Retries", facts_of)
    assert read_cites(text) == (CITE,)
    assert note_words(text) == "# Retries\n"


@each_row(
    "text",
    [
        "",
        "---\ntitle: Theirs\ntags: [a, b]\n---\n\nwords",
        '---\nkind: "verdict"\ncites: "all"\nsaved_by: 7\n---\n\nwords',
        f"---\ncites: {'[' * 100_000}\n---\n\nwords",
        '---\nkind: ["note"]\ncites: [{}, 3, null]\n---\nwords',
    ],
)
def test_a_note_of_peoples_own_cites_nothing(text: str) -> None:
    """What is not ours is passed over."""
    assert read_cites(text) == ()


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
    assert read_cites(text) == (CITE,)


def test_changed_lines_and_those_of_a_codebase_that_is_gone_are_told_apart() -> None:
    """Each is named once, and of many the first few."""
    gone = CITE.model_copy(update={"path": "infra:queue/workers.py"})
    many = [CITE.model_copy(update={"path": f"a{n}.py\n# forged"}) for n in range(NAMED + 2)]
    changed, unconfigured = stale_lines_notice(StaleCitations(changed=many, unconfigured=[gone])).split("; ")
    assert changed.startswith("the cited lines changed since aaaaaaa (a0.py # forged:3-4")
    assert changed.count(".py") == NAMED
    assert "and 2 more" in changed
    assert "\n" not in changed
    assert "not configured here (infra:queue/workers.py:3-4)" in unconfigured
    assert stale_lines_notice(None) == UNKNOWN
    assert StaleCitations().is_empty


@each_row(
    "words, found",
    [
        ("- app/retry.py:3-4\n- `shop:src/a.py:7`", ["app/retry.py:3-4", "shop:src/a.py:7"]),
        ("At 12:30 it was http://host:80, see [a.py:1](https://git.example/a.py#L1).", ["a.py:1"]),
        ("a.py:1 a.py:1, a.py:2", ["a.py:1", "a.py:2"]),
        ("nothing: 3", []),
        ("a.py:1 " * 3 + " ".join(f"b{n}.py:1" for n in range(20)), ["a.py:1", *[f"b{n}.py:1" for n in range(7)]]),
    ],
)
def test_addresses_are_read_from_the_words(words: str, found: list[str]) -> None:
    """Whatever stands around them; each once, eight at most."""
    assert addresses_in(words) == found


def test_addresses_of_a_hostile_text_are_read_in_no_time() -> None:
    """200 KB that almost are addresses; linear, so a second is far more than enough."""
    for seed in ("a:", "a.py:1-", "/", "`", "a:1:"):
        assert len(addresses_in(seed * (200_000 // len(seed)))) <= MAX_CITES
