"""Whether every statement of fact in a draft has a citation beside it: SPEC §4.3.

Pure. A statement without one is marked on the card and told to the validator; it keeps a draft from confidence `high`,
and from nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.casework.checks.citation_checks import CitationResult
from bot.domain.citations.fact_statements import statements_without_source
from bot.domain.returns import Check, InvestigatorReturn
from bot.domain.text.sanitize import one_line

STATEMENTS: Final = "draft.statements"
NAMED_AT_MOST: Final = 3
STATEMENT_CHARS: Final = 90


def statements_check(ret: InvestigatorReturn, marks: Sequence[bool | None]) -> CitationResult:
    """Return which statements have no citation beside them; a citation that is refuted counts as none."""
    refs = [ref for ref, mark in zip(ret.evidence_refs, marks, strict=True) if mark is not False]
    bare = statements_without_source(ret.draft_reply, [ref.quote for ref in refs], [ref.ref for ref in refs])
    if not bare:
        return CitationResult(True, "every statement of fact has a citation beside it")
    said = "; ".join(f"“{one_line(sentence, STATEMENT_CHARS)}”" for sentence in bare[:NAMED_AT_MOST])
    more = f" and {len(bare) - NAMED_AT_MOST} more" if len(bare) > NAMED_AT_MOST else ""
    if ret.confidence != "high":
        return CitationResult(None, f"stated without a citation beside it: {said}{more}")
    return CitationResult(
        False, f"high confidence, but stated without a citation beside it: {said}{more}; cite it, or say medium"
    )


def unsourced_statements(checks: Sequence[Check]) -> str | None:
    """Return what is to be said of such statements where they fail no check; None where there are none.

    >>> unsourced_statements([Check(name="draft.statements", ok=None, reason="stated without …")])
    'stated without …'
    """
    return next((check.reason for check in checks if check.name == STATEMENTS and check.ok is None), None)
