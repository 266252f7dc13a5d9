"""Finds credentials in text, and blacks them out; the values found never leave this module.

Pure. Redact before truncating: half a token is still a leak and no longer matches. A value is judged by its shape where
the issuer gave it one, else by the name it is assigned to and how random it looks.
Source: the issuers' published prefixes; why no library, docs/decisions/secret-patterns.md.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

MIN_KNOWN_CHARS: Final = 8
OWN_SECRET: Final = "secret of this process"  # noqa: S105 - the name of a kind

_MIN_QUOTED_BITS: Final = 2.7
_MIN_BARE_BITS: Final = 3.0


class _Span(NamedTuple):
    start: int
    end: int
    kind: str


_ISSUED: Final = {
    "Slack token": r"\bxox[a-z](?:\.[a-z]+)?-[A-Za-z0-9.-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}",
    "Slack webhook": r"\bhooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/+_-]{20,}",
    "Anthropic key": r"\bsk-ant-[A-Za-z0-9_-]{16,}",
    "OpenAI key": r"\bsk-(?!ant-)(?=[A-Za-z_-]{0,64}\d)(?:(?:proj|svcacct|admin)-)?[\w-]{0,64}[A-Za-z0-9]{16}[\w-]*",
    "GitHub token": r"\bgh[oprsu]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{22,}",
    "GitLab token": r"\bgl(?:pat|dt|rt|soat)-[A-Za-z0-9_-]{20,}",
    "AWS access key": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "AWS secret key": (
        r"(?i:aws|secret)[A-Za-z_ -]{0,24}['\"]?\s{0,4}[=:]\s{0,4}['\"]?"
        r"(?P<value>(?=[a-z+/]{0,40}[A-Z0-9])[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])"
    ),
    "Google key": r"\bAIza[A-Za-z0-9_-]{35,}|\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,}",
    "Stripe key": r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9]{24,}",
    "Telegram token": r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,}",
    "package registry token": r"\bnpm_[A-Za-z0-9]{36,}|\bpypi-AgE[A-Za-z0-9_-]{40,}",
    "SendGrid key": r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "JSON web token": r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{8,}",
    "private key": (
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        r"(?=[\s\\nr\"'+,]{1,40}(?:[A-Z][A-Za-z-]{1,20}: .{0,80}\s{1,4}){0,4}[A-Za-z0-9+/=]{12}"
        r"|(?:\\[nr]|\s)[\s\S]{4,4000}?-----END )"
        r"[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\Z)"
    ),
}
_ISSUED_PATTERNS: Final = tuple((kind, re.compile(pattern)) for kind, pattern in _ISSUED.items())
_URL: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{1,20}://(?P<user>[^\s/:@\"'<>]{0,64}):(?P<value>[^\s/@\"'<>]{3,128})@"
)
_BEARER: Final = re.compile(r"(?i:\b(?:bearer|basic))\s{1,4}(?P<value>[A-Za-z0-9._~+/-]{20,512}=*)")
# The value is only looked at, since it may hold the name of the next one; a `]` after the name needs its quote, for
# `[redacted: token]` is no name.
_ASSIGNED: Final = re.compile(
    r"(?i:(?P<name>pass(?:word|wd|phrase)?|pwd|secret|token|(?:api|access|auth|private|secret|signing|encryption)[_-]?key"
    r"|credentials?)(?:[_-](?:key|value|token|id))?)"
    r"(?=(?:['\"]\]?)?\s{0,4}(?::\s{0,2}str\s{0,2}=|=>|:=|==|=|:)\s{0,4}"
    r"(?:[rbfRBF]?(?P<quote>['\"`])(?P<quoted>[^\s'\"`]{8,256})(?P=quote)|(?P<bare>[^\s'\"`,;(){}\[\]<>]{10,256}+)(?![(\[])))"
)
_PLACEHOLDER: Final = re.compile(
    r"(?i)^[<{(\[$%]|\$\{|\{\{|%\(|\{[a-z_.]+\}|\*{3}"
    r"|x{4}|\.{3}|\[redacted|example|sample|dummy|change_?me|placeholder|your[_-]|my[_-]|redacted"
    r"|\]\{|\\[bdsw]"
    r"|^(?:user|pass|password|passwd|pwd|secret|token|none|null|true|false|undefined)$"
)
_WORDS: Final = re.compile(r"[A-Za-z]+(?:[._/:-]+[A-Za-z]+)*[0-9]?")


def find_secrets(text: str, known: Collection[str] = ()) -> list[str]:
    """Return the kinds of credential in `text`, each once, in order of appearance; never a value.

    Args:
        text: Anything that may be shown or stored.
        known: The process's own secret values; those under 8 characters are ignored.

    >>> find_secrets('password = "hG7$kq2Lz9pW"'), find_secrets("token = settings.slack_token")
    (['password'], [])
    """
    return list(dict.fromkeys(span.kind for span in _spans(text, known)))


def redact(text: str, known: Collection[str] = ()) -> str:
    """Return `text` with every credential replaced by what kind it was.

    >>> redact("postgres://bob:S3cr3tPw@db/orders")
    'postgres://bob:[redacted: password]@db/orders'
    """
    parts, done = [], 0
    for start, end, kind in _spans(text, known):
        if start >= done:
            parts += [text[done:start], f"[redacted: {kind}]"]
        done = max(done, end)
    return "".join(parts) + text[done:]


def _spans(text: str, known: Collection[str]) -> list[_Span]:
    """Return where the credentials are: by start, the longest first; of two names for one place the surer one."""
    found: dict[tuple[int, int], _Span] = {}
    for span in (*_known(text, known), *_issued(text), *_in_urls(text), *_bearers(text), *_assigned(text)):
        found.setdefault((span.start, span.end), span)
    return sorted(found.values(), key=lambda span: (span.start, -span.end))


def _known(text: str, known: Collection[str]) -> Iterator[_Span]:
    for value in known:
        if len(value) >= MIN_KNOWN_CHARS:
            for match in re.finditer(re.escape(value), text):
                yield _Span(*match.span(), OWN_SECRET)


def _issued(text: str) -> Iterator[_Span]:
    for kind, pattern in _ISSUED_PATTERNS:
        for match in pattern.finditer(text):
            yield _Span(*match.span("value" if "value" in pattern.groupindex else 0), kind)


def _in_urls(text: str) -> Iterator[_Span]:
    for match in _URL.finditer(text):
        if not _PLACEHOLDER.search(match["value"]) and match["value"] != match["user"]:
            yield _Span(*match.span("value"), "password")


def _bearers(text: str) -> Iterator[_Span]:
    for match in _BEARER.finditer(text):
        if _looks_random(match["value"], _MIN_BARE_BITS):
            yield _Span(*match.span("value"), "token")


def _assigned(text: str) -> Iterator[_Span]:
    for match in _ASSIGNED.finditer(text):
        group, bits = ("quoted", _MIN_QUOTED_BITS) if match["quoted"] else ("bare", _MIN_BARE_BITS)
        if _looks_random(match[group], bits):
            yield _Span(*match.span(group), _kind_of(match["name"]))


def _kind_of(name: str) -> str:
    folded = name.lower()
    if folded.startswith(("pass", "pwd")):
        return "password"
    return "key" if folded.endswith("key") else "token" if "token" in folded else "secret"


def _looks_random(value: str, min_bits: float) -> bool:
    """Whether a value is neither a placeholder, a word, a name nor a path, and has entropy per character."""
    if _PLACEHOLDER.search(value) or _WORDS.fullmatch(value):
        return False
    letters, digits = re.search("[A-Za-z]", value), re.search("[0-9]", value)
    return bool(letters and digits) and _bits_per_char(value) >= min_bits


def _bits_per_char(value: str) -> float:
    """Return the Shannon entropy of a text's characters, in bits."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
