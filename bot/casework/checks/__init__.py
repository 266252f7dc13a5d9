"""Every check of a draft that code can make, before any model is asked."""

from bot.casework.checks.draft_checks import check_return
from bot.domain.citations.claims import check_claim
from bot.domain.returns import ref_marks

__all__ = ["check_claim", "check_return", "ref_marks"]
