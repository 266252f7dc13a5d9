"""The evidence dialogue: marks, claims, lines among their neighbours, all of it inert and within Slack's limits."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from slack_sdk.models.views import View

from blocks.cards.evidence_modal import MAX_CITATIONS, evidence_modal
from bot.casework.checks.addresses import ShownCitation
from bot.casework.checks.sources import Found, Lines, Missing
from bot.domain.citations.links import code_links
from bot.domain.returns import EvidenceKind, EvidenceRef
from tests.blocks.cards.test_draft_card import HOSTILE, SHORT
from tests.blocks.limits import texts, view_as_slack_takes_it
from tests.builders import REF, THREAD_ID
from tests.tables import each_row

LINK_TO = code_links("git@github.com:acme/shop.git")


def some_lines(*texts: str, start: int = 1, **more: Any) -> Lines:
    return Lines(lines=texts, shown=texts, start=start, **{"path": "app/retry.py", "place": "program", **more})


LINES = some_lines("def limit():", "    limit = 5", "    return limit", start=9)


def a_citation(
    found: Found = LINES, mark: bool | None = True, reason: str = "", strange: str = "", **changes: Any
) -> ShownCitation:
    ref = REF.model_copy(update={"supports_claim": "Retries stop after 5.", **changes})
    return ShownCitation(ref, mark, reason, found, strange)


def seen(view: View) -> str:
    """Return all that can be read, checked."""
    found = view_as_slack_takes_it(view)
    assert len(json.dumps(found)) <= 250_000
    return "\n".join(texts(found))


def test_a_citation_shows_its_lines() -> None:
    """Numbered, with the claim, the mark and the way to the code host."""
    shown = seen(evidence_modal(THREAD_ID, [a_citation()], LINK_TO))
    assert " 9  def limit():\n10      limit = 5\n11      return limit" in shown
    assert (
        f"*<https://github.com/acme/shop/blob/{'a' * 40}/app/retry.py#L10-L12|app/retry.py:10-12>* at aaaaaaa" in shown
    )
    assert "✓ verified" in shown
    assert "for: Retries stop after 5." not in shown, "a ✓ vouches for the lines alone"
    assert "for: Retries stop after 5." in seen(evidence_modal(THREAD_ID, [a_citation(mark=None)], LINK_TO))
    assert f"triage verify {THREAD_ID} --lines" in shown


def test_lines_with_markup_and_broadcasts_are_shown_escaped() -> None:
    """Evidence is never left out for what it holds."""
    found = some_lines("<!-- never -->", "call <!channel> @here", "```")
    shown = seen(evidence_modal(THREAD_ID, [a_citation(found)], LINK_TO))
    assert "1  &lt;!-- never --&gt;" in shown
    assert "<!channel>" not in shown
    assert "&lt;!channel&gt;" in shown


def test_what_code_cannot_check_says_so() -> None:
    """No lines, but the quotation, and why there is no more."""
    outside = Missing("it is outside the codebase", None)
    citation = a_citation(
        outside, None, "nobody can look that up", "limit = 5", kind=EvidenceKind.EXTERNAL_DOC, ref="the wiki"
    )
    shown = seen(evidence_modal(THREAD_ID, [citation], LINK_TO))
    assert "? cannot be checked by code" in shown
    assert "? 1 cannot be checked by code: please check it yourself" in shown
    assert "nobody can look that up · Not shown: it is outside the codebase." in shown
    assert "Quoted:\n```\nlimit = 5\n```" in shown


@each_row("kind, mark", [*product(SHORT, [True, False, None]), ("short lines", False), ("ampersands", None)])
def test_no_evidence_breaks_the_dialogue(kind: str, mark: bool | None) -> None:
    """Hostile text as file content, name, quote, claim, reason, subject and author, as often as there is room."""
    check_dialogue(HOSTILE[kind], mark)


@pytest.mark.full
@each_row("kind, mark", product(HOSTILE, [True, False, None]))
def test_no_evidence_however_long_breaks_the_dialogue(kind: str, mark: bool | None) -> None:
    """Each text with each mark."""
    check_dialogue(HOSTILE[kind], mark)


def check_dialogue(text: str, mark: bool | None) -> None:
    """Show a text as whatever may be cited."""
    lines = text.split("\n")
    ref = EvidenceRef(kind=EvidenceKind.FILE, ref=text or "x", commit=text[:40], quote=text, supports_claim=text)
    for found in (some_lines(*lines), some_lines(text, path=None, about=text), Missing(text)):
        citations = [ShownCitation(ref, mark, text, found, text)] * MAX_CITATIONS
        seen(evidence_modal(THREAD_ID, citations, LINK_TO, left_out=3))


def test_more_citations_than_slack_takes_are_counted() -> None:
    """The whole dialogue is limited too; what is left out can be read on the bot's machine."""
    lines = some_lines(*["词" * 200] * 99)
    citation = a_citation(lines, False, "词" * 300, "词" * 1_500, supports_claim="词" * 400, ref="词" * 200)
    found = view_as_slack_takes_it(evidence_modal(THREAD_ID, [citation] * MAX_CITATIONS, LINK_TO, left_out=2))
    assert len(json.dumps(found)) <= 250_000
    shown = "\n".join(texts(found))
    left = MAX_CITATIONS + 2 - shown.count("✗ refuted")
    assert left > 2
    assert f"{left} more are not shown here. `triage verify" in shown


def test_a_commit_shows_message_author_and_date() -> None:
    """With its page on the code host."""
    sha = "b" * 40
    found = some_lines("Retry <!here> less", path=None, place=None, commit=sha, about="Eve & Co, 2026-01-05")
    citation = a_citation(found, kind=EvidenceKind.GIT_COMMIT, ref=sha, commit=None)
    shown = seen(evidence_modal(THREAD_ID, [citation], LINK_TO))
    assert f"<https://github.com/acme/shop/commit/{sha}|commit {sha[:12]}>" in shown
    assert "Retry &lt;!here&gt; less" in shown
    assert "Eve &amp; Co, 2026-01-05" in shown
