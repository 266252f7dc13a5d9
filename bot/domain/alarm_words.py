"""Words that make a heartbeat's remark an alert, however short it is. Pure.

Short on purpose, and on the safe side: a needless message costs a glance, a swallowed one an outage. English in full,
of the other languages of the team the commonest. "No errors" is no alarm: a word counts unless it is negated at once.
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
_NEGATION: Final = (
    r"(?P<no>\b(?:(?:no|zero|0|without|nothing|none)[ ](?:(?!but\b|except\b)[\w-]+[ ])?|(?:not|non)[ -]))?"
)
_ALARM: Final = re.compile(rf"{_NEGATION}(?P<word>\b(?:{'|'.join(_WORDS)})\b)|{'|'.join(_UNSPACED)}", re.IGNORECASE)


def has_alarm_word(text: str) -> bool:
    """Whether a remark sounds as if somebody should look.

    >>> has_alarm_word("3 urgent emails."), has_alarm_word("All clear: no new errors, nothing failing.")
    (True, False)
    """
    return any(not match["no"] for match in _ALARM.finditer(text))
