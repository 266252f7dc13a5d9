"""Words that make a heartbeat's remark an alert, however short it is. Pure.

Short on purpose, and on the safe side: a needless message costs a glance, a swallowed one an outage. English in full,
of the other languages of the team the commonest. "No new errors or conflicts" is no alarm: a word does not count where
it is negated at most two words before.
"""

from __future__ import annotations

import re
from typing import Final

_WORDS: Final = (
    *("urgent(?:ly)?", "critical", "emergency", "asap", "immediately", "alert(?:s|ing)?", "alarms?", "incidents?"),
    *("outages?", "down", "offline", "unreachable", "unavailable", "unresponsive", "dead", "stuck", "hung", "hangs"),
    *(
        "fail(?:s|ed|ing|ures?)?",
        "errors?",
        "exceptions?",
        "panic(?:s|ked)?",
        "crash(?:es|ed|ing)?",
        "broken?",
        "breaks",
    ),
    *("red", "blocked", "blockers?", "conflicts?", "conflicting", "corrupt(?:ed|ion)?", "lost", "losing", "missing"),
    *("leak(?:s|ed|ing)?", "breach(?:ed)?", "compromised", "vulnerabilit(?:y|ies)", "exposed", "cve-[0-9-]+"),
    *("overdue", "expire[sd]?", "expiring", "time(?:d)?[ -]?outs?", "oom", "out of (?:memory|disk|space)", "disk full"),
    *("sev-?[0-2]", "p[01]", "5[0-9]{2}s", "5xx", "(?:action|attention) (?:needed|required)", "needs? attention"),
    *("dringend", "ausgefallen", "kaputt", "fehler", "fehlgeschlagen", "urgente", "caíd[oa]", "fallo", "fallid[oa]"),
    *(
        "falla(?:s|ndo)?",
        "falhou",
        "falha(?:s|ndo)?",
        "erros?",
        "errores",
        "caiu",
        "erreurs?",
        "échec",
        "échoué",
        "panne",
    ),
    *("darurat", "gagal", "galat", "mati"),
)
_UNSPACED: Final = (
    *("緊急", "障害", "失敗", "エラー", "至急", "停止", "紧急", "故障", "失败", "错误", "报错", "宕机"),
    *("🚨", "🔴", "🔥", "❌", "❗", "‼", "⚠", "🆘", "⛔"),
)
_ALARM: Final = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b|{'|'.join(_UNSPACED)}", re.IGNORECASE)
_BETWEEN: Final = (
    r"(?!(?:but|except|only|idea|one|response|reply|answer|access|why|because|since|after|when|as)\b)[\w-]+ "
)
_NEGATED: Final = re.compile(
    rf"\b(?:no|zero|0|without|nothing|none) (?:(?:{_BETWEEN}){{1,3}}n?or )?(?:{_BETWEEN}){{0,2}}\Z|\b(?:not|non)[ -]\Z",
    re.IGNORECASE,
)
_NEGATION_CHARS: Final = 80


def has_alarm_word(text: str) -> bool:
    """Whether a remark sounds as if somebody should look.

    >>> has_alarm_word("3 urgent emails."), has_alarm_word("All clear: no new errors or merge conflicts.")
    (True, False)
    """
    return any(not _is_negated(text, word.start()) for word in _ALARM.finditer(text))


def _is_negated(text: str, at: int) -> bool:
    return _NEGATED.search(text, max(0, at - _NEGATION_CHARS), at) is not None
