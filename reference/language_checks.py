"""What of a draft and of a question is checked in which language, counted from the word lists themselves."""

from __future__ import annotations

from typing import Final

from bot.domain.questions.draft_language import TONE_LISTS
from bot.domain.questions.risk_gate import LANGUAGES, RULES, TABLES
from bot.domain.questions.rubrics import QUESTION_LISTS
from reference.markdown import table

_TONES: Final = (("words of certainty", "certain"), ("words of doubt", "doubtful"), ("stock phrases", "smells"))


def language_checks_part() -> str:
    """Return a table with a line for each check and the number of patterns it has in each language."""
    rows = [[f"risk: {kind}", *(str(_risk_patterns(kind, code)) for code in LANGUAGES)] for kind in RULES]
    for name, key in _TONES:
        rows.append([name, *(str(len(getattr(TONE_LISTS, key)[code])) for code in LANGUAGES)])
    for name, key in (("types of question told apart", "types"), ("signs of a wide question", "wide")):
        rows.append([name, *(_question_rules(code, key) for code in LANGUAGES)])
    return table(["what is looked for", *LANGUAGES], rows)


def _risk_patterns(kind: str, language: str) -> int:
    groups = {group for rule in RULES[kind] for group in rule}
    return sum(len(TABLES[language].words[group]) for group in groups)


def _question_rules(language: str, key: str) -> str:
    known = QUESTION_LISTS.languages.get(language)
    return str(len(getattr(known, key))) if known else "all"
