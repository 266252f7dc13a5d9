"""Which type of answer a question wants, and what a good answer of that type looks like.

Pure. Rules are tried in order and the first that fits wins: a question on the state of things is one even if it names
an endpoint. What fits none is OTHER, whose rubric asks for the least. English only; other languages are told by the
code names and endpoints they mention. The rubric is part of the investigator's brief and the yardstick of its checks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from bot.domain.returns import MAX_DRAFT_WORDS, EvidenceKind
from bot.domain.threads import QuestionType

_READ_CHARS: Final = 4_000

# `~` stands for "up to 80 characters of the same sentence".
_BE: Final = "(?:is|are|was|were|isn't|aren't)"
_HAVE: Final = "(?:has|have|did|was|were|is|are|hasn't|didn't)"
_STATE: Final = "(?:down|up|live|online|offline|healthy|degraded|stuck|running|passing|failing|green|red|done|ready)"
_EVENT: Final = (
    "(?:deploy(?:ed)?|released?|ship(?:ped)?|merged?|rolled out|revert(?:ed)?|land(?:ed)?|go(?:ne)? (?:out|live)"
    "|fix(?:ed)?|resolved?|finish(?:ed)?|complete[d]?)"
)
_AFTER: Final = r"(?=\s*(?:[?？.!,;]|$|(?:yet|now|already|today|again|in|on|to|for|from|since|or)\b))"
_RECORDS: Final = (
    "(?:users?|customers?|accounts?|orders?|requests?|errors?|events?|rows?|records?|tenants?|messages?|payments?"
    "|sign-?ups?|sessions?|invoices?|calls|traffic|revenue|tickets?)"
)
_OWNERS: Final = "(?:users?|customers?|accounts?|orders?|tenants?|teams?|invoices?)"
_METRIC: Final = r"(?:error rate|latency|throughput|p\d\d|count|number|percentage|share|traffic|volume)"
_PERIOD: Final = r"(?:yesterday|today|last|this (?:week|month|year|hour)|past|since|right now)"
_LIMIT: Final = "(?:allowed|per|limit|max|maximum|can|before)"
_API_NOUN: Final = (
    r"(?:endpoints?|webhooks?|openapi|swagger|graphql|grpc|protobuf|payload|(?:request|response) (?:body|header)"
    r"|query param\w*|status codes?|http headers?|api contract|json schema|rate limits?|return type"
    r"|(?:rest|public|http) api)"
)
_TOPIC: Final = (
    r"(?:code|functions?|class(?:es)?|methods?|modules?|files?|repo|config\w*|settings?|flags?|env|default|retr(?:y|ies)"
    r"|timeouts?|cach\w+|queues?|database|db|migrat\w+|tables?|index\w*|schema|tests?|builds?|deploy\w*|services?|workers?"
    r"|clients?|servers?|librar\w+|version|released?|errors?|exceptions?|logs?|logging|locks?|locked|auth\w*|tokens?"
    r"|parse[drs]?|validat\w+|handle[drs]?|implement\w*|defined|computed|stored|backoff|bugs?|branch|commits?|docker\w*"
    r"|scripts?|jobs?|cron|sql|hash\w*|encrypt\w*|dedup\w*|schedul\w*|imports?|api|prod|staging|pipeline|5\d\ds?)"
)
_ASKS: Final = "(?:how|why|where|what|which|when|who|does|do|can|could|should|is|are|will|explain)"
_CODE_NAME: Final = (
    r"`[^`\n]+`|\b\w+_\w+\b|(?-i:\b[a-z]+[A-Z]\w+\b)|\b\w+\(\)"
    r"|\b[\w/]+\.(?:py|js|ts|go|rb|rs|java|sql|ya?ml|toml|json|md)\b"
)

# Whoever asks where or how wants to know about the code, even if the sentence says that something is done.
_LOCATES: Final = re.compile(r"\W*(?:<@\w+>\W*)?(?:where|how)\b", re.IGNORECASE)
_STATUS: Final = QuestionType.STATUS_CHECK
_RULES: Final = (
    (_STATUS, r"\b(?:status|state|progress|eta) (?:of|on|for)\b(?! \w+ (?:code|param))"),
    (_STATUS, r"\bany (?:update|progress|news)\b|\bwhat'?s the (?:status|eta)\b"),
    (_STATUS, rf"\b{_BE}\b~\b(?<!set )(?<!look )(?<!start ){_STATE}\b{_AFTER}"),
    (_STATUS, rf"\b{_HAVE}\b~\b{_EVENT}\b{_AFTER}"),
    (_STATUS, rf"\b(?:when|which release|what version)\b~\b{_EVENT}\b{_AFTER}"),
    (_STATUS, r"\bwho is on[- ]?call\b|\b(?:ongoing|current) (?:outage|incident)\b"),
    (_STATUS, r"\b(?:getting|seeing) (?:5\d\ds?|errors|timeouts)\b"),
    (QuestionType.DATA_LOOKUP, rf"\bhow (?:many|much)\b~\b{_RECORDS}\b(?!~\b{_LIMIT}\b)"),
    (QuestionType.DATA_LOOKUP, rf"\bwhich {_OWNERS}\b|\b{_METRIC} (?:of|for|in|on|over)\b~\b{_PERIOD}\b"),
    (QuestionType.DATA_LOOKUP, rf"\b(?:look up|find|give me|pull|fetch|export|list)\b~\b{_OWNERS}\b"),
    (QuestionType.DATA_LOOKUP, r"\b(?:for|of|did) (?:customer|account|tenant|order|user|invoice) [#\w-]*\d"),
    (QuestionType.API_CONTRACT, rf"(?-i:\b(?:GET|POST|PUT|PATCH|DELETE)) /|\b{_API_NOUN}\b"),
    (
        QuestionType.API_CONTRACT,
        r"\b(?:param(?:eter)?s?|arguments?|fields?|signature)\b~\b(?:of|does|take|accept|required)\b",
    ),
    (QuestionType.API_CONTRACT, r"\bwhat (?:does|do)\b~\b(?:return|accept|expect|respond)\b"),
    (QuestionType.API_CONTRACT, r"\bapi\b~\b(?:return|accept|expect|respond|require|support)\b"),
    (QuestionType.TECHNICAL_QA, rf"\b{_ASKS}\b~(?:\b{_TOPIC}\b|{_CODE_NAME})"),
)
_PATTERNS: Final = tuple(
    (kind, re.compile(rule.replace("~", r"(?:[^.?!\n]|\.\w){0,80}?"), re.IGNORECASE)) for kind, rule in _RULES
)


def question_type_of(text: str) -> QuestionType:
    """Return the type of a question, by rules; OTHER where none fits.

    >>> str(question_type_of("Is the payments API down?")), str(question_type_of("Where is the retry limit set?"))
    ('status_check', 'technical_qa')
    """
    asked = text.replace("’", "'")[:_READ_CHARS]
    locates = _LOCATES.match(asked) is not None
    kinds = (kind for kind, pattern in _PATTERNS if not (locates and kind is _STATUS) and pattern.search(asked))
    return next(kinds, QuestionType.OTHER)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rubric:
    """The measure of a draft.

    At least one citation must be of a kind in `required_kinds`; empty means any. `language` is the primary subtag of
    the answer's language ("en"), None for whatever the draft says of itself.
    """

    question_type: QuestionType
    required_kinds: frozenset[EvidenceKind]
    expected_shape: str
    out_of_scope: str
    tone: str = "plain and short, as a colleague writes in a thread; no greeting, no hedging, no disclaimers"
    language: str | None = None

    def render(self) -> str:
        """Return the rubric as the lines that go into the investigator's brief and the thread's state."""
        kinds = ", ".join(sorted(self.required_kinds)) or "any kind"
        return "\n".join(
            [
                f"Question type: {self.question_type}",
                f"Expected answer: {self.expected_shape}",
                f"Required evidence: at least one citation ({kinds}), each with a verbatim quote",
                f"Out of scope: {self.out_of_scope}",
                f"Tone: {self.tone}; at most {MAX_DRAFT_WORDS} words",
                f"Language: {self.language or 'the language of the question'}",
            ]
        )


_K = EvidenceKind
_RUBRICS: Final = {
    rubric.question_type: rubric
    for rubric in (
        Rubric(
            question_type=QuestionType.TECHNICAL_QA,
            required_kinds=frozenset({_K.FILE, _K.GIT_COMMIT}),
            expected_shape="the answer in one or two sentences, then where in the code it stands",
            out_of_scope="redesign, opinions on the code, changes nobody asked for",
        ),
        Rubric(
            question_type=QuestionType.STATUS_CHECK,
            required_kinds=frozenset({_K.LOG_QUERY, _K.GIT_COMMIT}),
            expected_shape="the state now, since when, and how that was established",
            out_of_scope="predictions, promises of a date, causes not yet established",
        ),
        Rubric(
            question_type=QuestionType.DATA_LOOKUP,
            required_kinds=frozenset({_K.LOG_QUERY, _K.FILE}),
            expected_shape="the figure with its unit, its period and the query or file it comes from",
            out_of_scope="estimates, personal data, advice to a particular customer",
        ),
        Rubric(
            question_type=QuestionType.API_CONTRACT,
            required_kinds=frozenset({_K.FILE}),
            expected_shape="method, path or signature, its fields with type and default, its errors",
            out_of_scope="how the caller should be built, behaviour that only a test or a comment claims",
        ),
        Rubric(
            question_type=QuestionType.OTHER,
            required_kinds=frozenset(),
            expected_shape="the answer first, then what it rests on",
            out_of_scope="anything the citations do not show",
        ),
    )
}


def rubric_for(question_type: QuestionType, *, language: str | None = None) -> Rubric:
    """Return the rubric of a question type, for an answer in `language` if one is expected."""
    return replace(_RUBRICS[question_type], language=language)
