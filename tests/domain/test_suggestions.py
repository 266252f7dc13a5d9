"""Suggestions: their ids, their one decision, their lines in decisions.md."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.suggestions import (
    SUGGESTION_ID,
    DecidedBy,
    Offer,
    Suggestion,
    SuggestionStatus,
    decision_lines,
    suggestion_id,
)
from bot.domain.tiers import Tier
from bot.errors import Conflict

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ANA = DecidedBy("U0ANA", "ana")


def a_suggestion(**changes: object) -> Suggestion:
    given = {"tier": Tier.HOURLY, "from_": "api", "reason": "why", "at": NOON, **changes}
    return Suggestion(id="shop-123456", to="shop", task="Open incidents", **given)  # type: ignore[arg-type]


@given(st.from_regex(r"[a-z0-9][a-z0-9_-]{0,39}", fullmatch=True), st.text(min_size=1), st.sampled_from([None, *Tier]))
def test_every_task_has_an_id_that_is_safe_as_a_file_name(to: str, task: str, move: Tier | None) -> None:
    """Whatever it says; the same words in other clothes have the same one."""
    made = suggestion_id(to, task, move)
    assert SUGGESTION_ID.fullmatch(made)
    assert made == suggestion_id(to, f"  {task} ", move) or not task.strip()


def test_a_decision_is_made_once() -> None:
    """Whoever comes second learns who was first."""
    accepted = a_suggestion().decided(SuggestionStatus.ACCEPTED, ANA, NOON, "  ")
    assert (accepted.decided_by, accepted.decided_at, accepted.decision_reason) == ("U0ANA", NOON, None)
    with pytest.raises(Conflict, match="ana accepted shop-123456 already"):
        accepted.decided(SuggestionStatus.REJECTED, DecidedBy("U0BEN", "ben"), NOON, "late")


def test_what_is_quarantined_says_so_in_its_line_and_has_no_marks_of_its_own() -> None:
    """The task of somebody else is text, on one line."""
    offer = Offer(tier=Tier.DAILY, task="[x](y)\n- **z**", from_="api", reason="api makes this.", quarantine="odd")
    ((mark, line),) = decision_lines(offer.made_to("shop", NOON))
    assert mark.startswith("quarantined [shop-")
    assert line.endswith(r", daily, for shop: “\[x\](y) - \*\*z\*\*”, from api; odd")
