"""Finds advice that breaks things when it is wrong: code changes, rollbacks, deletions, one customer's affairs.

Pure, English. To explain that a job deletes rows is no risk; to tell somebody to delete them is. So a risky word counts
only in a sentence that advises, and a dangerous command only where it is not a quotation of the evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from bot.domain.questions.draft_tone import CODE, own_sentences, without_quotes

_ADVISES: Final = re.compile(
    r"\b(?:you(?:'ll| will)? (?:should|can|could|may|might|must|ought|need|have|want)|we (?:should|could|can|must|need)"
    r"|please|let's|i(?:'d| would)? (?:recommend|suggest|advise|propose)|recommend(?:ed|ation)?"
    r"|suggestion|advis(?:e|ed|able)"
    r"|(?:the|a|one) (?:fix|solution|workaround|remedy) (?:is|would be)|to (?:fix|solve|resolve|unblock)|try|consider"
    r"|is (?:the|a|one|our|your) (?:only )?(?:fix|solution|workaround|remedy)"
    r"|(?:can|could|will|would) be (?:fixed|solved|resolved) by"
    r"|(?:needs?|has|have|ought) to be|(?:should|must) be|best to|safe to"
    r"|(?:customer|tenant|merchant|account) (?:\S+ )?(?:should|must|can|needs? to))\b",
    re.IGNORECASE,
)
_DATA: Final = (
    r"(?:data|rows?|records?|tables?|database|db|index(?:es)?|buckets?|files?|director(?:y|ies)|folders?|backups?|volumes?"
    r"|queues?|users?|accounts?|history|entr(?:y|ies)|messages?|keys|logs?|state|snapshots?|collections?|namespace|orders?"
    r"|everything|them)"
)
_CODE_PARTS: Final = (
    rf"(?:{CODE}|code|lines?|functions?|methods?|class(?:es)?|modules?|imports?|decorators?|arguments?|parameters?"
    r"|constants?|defaults?|conditions?|checks?|calls?|quer(?:y|ies)|regex|source|statements?|implementation"
    r"|[\w/]+\.(?:py|js|ts|go|rb|rs|java|sql|ya?ml|toml))"
)
_GAP: Final = r"[^.?!]{0,60}?"
_RISKS: Final = {
    "rollback": (
        r"\broll(?:ing|ed)?[ -]?back\b|\brevert(?:ing|ed)?\b|\bundo(?:ing)? (?:the )?(?:deploy\w*|release|migration)"
    ),
    "data deletion": (
        r"\b(?:delet|eras|purg|wip|truncat)(?:e|ed|ing)\b"
        r"(?! (?:requests?|endpoint|handler|operations?|calls?|method|button))"
        r"|\bdestroy(?:ed|ing)?\b"
        rf"|\b(?:deletion|removal|truncation) of {_GAP}\b{_DATA}\b"
        rf"|\b(?:drop(?:ped|ping)?|remov(?:e|ed|ing)|clear(?:ed|ing)?|flush(?:ed|ing)?) {_GAP}\b{_DATA}\b"
    ),
    "code change": (
        r"\b(?:chang|modify|modifi|edit|replac|patch|refactor|renam|rewrit|updat|add|remov|insert|wrap|mov|swap|bump|fix)"
        rf"(?:e|ed|es|ing)?\b(?: out)? {_GAP}(?<!\w){_CODE_PARTS}(?!\w)"
        rf"|\bset(?:ting)? (?:the )?(?:constant|default|argument|parameter)\b|\bcomment(?:ing)? out\b"
    ),
    "advice for one customer": (
        r"\b(?:this|that|their|your|the) (?:customer|tenant|merchant|subscriber)\b"
        r"|\b(?:refund|credit) (?:the|this|them|their)\b"
        r"|\b(?:customer|tenant|account|merchant|organi[sz]ation) (?:#?\d[\w-]*|(?-i:[A-Z][\w&-]+))"
        r"|\b(?-i:[A-Z][\w&-]+)'s (?:account|subscription|plan|invoice|tenant)\b|\b(?:this|that|their) account\b"
    ),
}
_PATTERNS: Final = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _RISKS.items()}
_LEAD: Final = (
    r"(?:[-*•]\s+|\d+[.)]\s+)?(?:(?:just|simply|then|now|next|first|finally|also|so|and|or|instead|please|otherwise"
    r"|immediately|after that)\b,?\s+)*"
)
_IMPERATIVE: Final = re.compile(
    _LEAD
    + r"(?:roll back|rollback (?=the|this|that|to|your|it|now|prod|v?\d)|revert|undo|delete|erase|purge|wipe|truncate"
    r"|destroy|drop|remove|clear|flush|change|modify|edit|replace|patch|refactor|rename|rewrite|update|add|insert|wrap|move"
    r"|swap|bump|fix|comment|set|run|use|stop|restart|open|go|tell|ask|refund|credit|migrate|upgrade|downgrade|offer"
    r"|contact|give|have|apply|execute|disable|enable|deploy|redeploy)\b(?!\s+(?:is|are|was|were|has|happens)\b)",
    re.IGNORECASE,
)
# "A rollback of the release fixes it": praise of a risky step, as its clause's subject, is advice to take it.
_REMEDY: Final = re.compile(
    _LEAD + r"(?:[\w'-]+\s+){0,3}?(?:rollback|roll-back|revert|deletion|removal|truncation"
    r"|(?:roll|revert|undo|delet|eras|purg|wip|truncat|dropp|remov|clear|flush|chang|modify|edit|replac|patch|refactor"
    r"|renam|rewrit|updat|add|insert|wrapp|mov|swapp|bump|sett|comment|refund|credit)ing)\b"
    r"[^.?!]{0,80}?\b(?:fix(?:es)?|solves?|resolves?|cures?|unblocks?|helps?)\b",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[,;:—–]\s+|\bthen\s+")
_COMMANDS: Final = {
    "rollback": r"\bgit\s+revert\b|\brollout\s+undo\b|\bhelm\s+rollback\b|\b(?:alembic|migrate)\s+downgrade\b",
    "data deletion": (
        r"\brm\s+-\w*[rf]|(?i:\bdrop\s+(?:table|database|schema|index)\b|\bdelete\s+from\b|\btruncate\s+(?:table\s+)?\w+)"
        r"|\bkubectl\s+delete\b|\bterraform\s+destroy\b|\bFLUSH(?:ALL|DB)\b|\bdropdb\b|\bvolume\s+rm\b|\bgit\s+reset\s+--hard\b"
    ),
    "code change": r"(?m:^@@ |^--- a/|^diff --git)|\bgit\s+push\s+(?:-f|--force)\b|(?m:^```diff\b)",
}
_COMMAND_PATTERNS: Final = {kind: re.compile(pattern) for kind, pattern in _COMMANDS.items()}
_CODE_SEGMENT: Final = re.compile(r"^```.*?(?:^```|\Z)|`[^`\n]+`", re.DOTALL | re.MULTILINE)


def risky_advice(draft: str, quotes: Iterable[str] = ()) -> list[str]:
    """Return what in a draft needs high confidence, each as `kind: “words”`; `quotes` are the evidence's own words.

    >>> risky_advice("The job deletes old rows."), risky_advice("Roll back the deploy.")
    ([], ['rollback: “Roll back the deploy”'])
    """
    quotes = list(quotes)
    said = [text for text in own_sentences(draft, quotes) if _advises(text)]
    found = [(kind, text) for text in said for kind, pattern in _PATTERNS.items() if pattern.search(text)]
    for segment in _unquoted_code(draft, quotes):
        found += [(kind, match[0]) for kind, pattern in _COMMAND_PATTERNS.items() if (match := pattern.search(segment))]
    return list(dict.fromkeys(f"{kind}: “{' '.join(text.split())[:80]}”" for kind, text in found))


def _advises(sentence: str) -> bool:
    """Whether a sentence tells somebody to do something."""
    return bool(_ADVISES.search(sentence)) or any(
        _IMPERATIVE.match(clause) or _REMEDY.match(clause) for clause in _CLAUSE.split(sentence)
    )


def _unquoted_code(draft: str, quotes: Iterable[str]) -> list[str]:
    """Return the pieces of code in a draft that no citation vouches for."""
    known = [" ".join(quote.split()) for quote in quotes]
    segments = [match[0] for match in _CODE_SEGMENT.finditer(without_quotes(draft, quotes))]
    bare = [(segment, " ".join(re.sub(r"^```\w*|`", "", segment).split())) for segment in segments]
    return [segment for segment, words in bare if not any(words in quote for quote in known)]
