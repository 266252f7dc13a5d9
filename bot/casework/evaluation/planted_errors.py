"""Errors planted in drafts that are true: one change each, in a citation, in its quote or in the draft's own words.

The same seed plants the same errors.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from bot.casework.evaluation import planted_citations as citations
from bot.casework.evaluation import planted_statements as statements
from bot.casework.evaluation.planted_citations import Planter, Source
from bot.domain.returns import InvestigatorReturn


class PlantedKind(StrEnum):
    """What is made wrong; the value is how the table calls it."""

    LINES = "citation: lines moved"
    FILE = "citation: file does not exist"
    COMMIT = "citation: commit does not exist"
    WORD = "quote: a word altered"
    NUMBER = "quote: a number changed"
    NEGATION = "quote: negated"
    STATED_NUMBER = "statement: a number changed"
    STATED_NEGATION = "statement: negated"
    STATED_NAME = "statement: another name"
    COMMENT = "statement: cites a comment"


def plant(kind: PlantedKind, ret: InvestigatorReturn, source: Source, *, seed: str) -> InvestigatorReturn | None:
    """Return the draft with one error of a kind; None where it cannot have one.

    Raises:
        ProviderError: git fails.
    """
    dice = random.Random(f"{seed} {kind}")  # noqa: S311 - the same errors every time
    return _PLANTERS[kind](ret, source, dice)


_PLANTERS: Final[Mapping[PlantedKind, Planter]] = MappingProxyType(
    {
        PlantedKind.LINES: citations.in_citation(citations.move_lines),
        PlantedKind.FILE: citations.in_citation(citations.rename_file),
        PlantedKind.COMMIT: citations.in_citation(citations.invent_commit),
        PlantedKind.WORD: citations.in_citation(citations.alter_word),
        PlantedKind.NUMBER: citations.in_citation(citations.alter_number),
        PlantedKind.NEGATION: citations.in_citation(citations.negate_quote),
        PlantedKind.STATED_NUMBER: statements.state_number,
        PlantedKind.STATED_NEGATION: statements.state_negation,
        PlantedKind.STATED_NAME: statements.state_name,
        PlantedKind.COMMENT: statements.cite_comment,
    }
)
STATED: Final = frozenset(
    {PlantedKind.STATED_NUMBER, PlantedKind.STATED_NEGATION, PlantedKind.STATED_NAME, PlantedKind.COMMENT}
)
"""The kinds that need a statement in the draft's own words."""
