"""What each field of a validator's verdict does to a draft: one table that code enforces. Pure.

A `pass` stands only where no field forbids it and every check of code is green; it becomes a `bounce` otherwise, never
the other way round. Whatever a field objects to can be shown to the human, also beside a `pass`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from bot.domain.questions.draft_language import CODE_SEGMENT, own_sentences
from bot.domain.returns import CODE_CHECKS, Check, ValidatorReturn, Verdict
from bot.domain.tables import Alternatives, Parts, fill, read_table
from bot.domain.text.linear_patterns import LinearPattern

_SEPARATOR: Final = LinearPattern(r"[\n;]|&&|\|\|?|\$\(|`")
_EDGES: Final = "$#%|;&(` \t\n"
"""A prompt, or an opening, before or behind a simple command."""

_FENCE_MARK: Final = re.compile(r"^(?:```|~~~)[\w+-]*\n?|`", re.MULTILINE)
SHOWN_CHARS: Final = 80


class _RiskyCommandsTable(NamedTuple):
    parts: Parts
    reads: Alternatives
    harmless: Alternatives
    anywhere: dict[str, Alternatives]
    in_code: dict[str, Alternatives]


_LISTS: Final = read_table(__file__, "risky_commands.yml", _RiskyCommandsTable)
_READS: Final = LinearPattern(rf"^\s*(?:[$#]\s+)?(?:sudo\s+)?(?:{_LISTS.reads})(?:\s|$)")
_HARMLESS: Final = LinearPattern(_LISTS.harmless)


def _compiled(table: dict[str, str]) -> dict[str, LinearPattern]:
    return {kind: LinearPattern(fill(pattern, _LISTS.parts)) for kind, pattern in table.items()}


_ANYWHERE: Final = _compiled(_LISTS.anywhere)
_IN_CODE: Final = _compiled(_LISTS.in_code)


class RiskyCommand(NamedTuple):
    """A dangerous command: what kind of danger, and the words that show it."""

    kind: str
    words: str


def risky_commands(draft: str, cited: Iterable[str] = ()) -> list[str]:
    """Return the dangerous commands of a draft, each as `kind: “words”`; `cited` are the lines it cites.

    >>> risky_commands("Run `rm -rf /var/data` on the host."), risky_commands("The job deletes old rows.")
    (['data deletion: “rm -rf”'], [])
    >>> risky_commands("It runs `DELETE FROM carts`.", ['    db.execute("DELETE FROM carts")'])
    []
    """
    text = _spaced(" ".join(cited))
    found = [one for sentence in own_sentences(draft) for one in commands_in_prose(sentence)]
    for segment in CODE_SEGMENT.findall(draft):
        code = _FENCE_MARK.sub("", segment)
        found += [] if _is_quoted(_spaced(code), text) else commands_in_code(code)
    return list(dict.fromkeys(f"{kind}: “{_spaced(words)[:SHOWN_CHARS]}”" for kind, words in found))


def _is_quoted(code: str, text: str) -> bool:
    """Whether cited text holds a piece of code whole: `rm -rf /` is no part of `rm -rf /tmp`."""
    return re.search(rf"(?<![\w/.~$*-]){re.escape(code)}(?![\w/.~$*-])", text) is not None


def _spaced(text: str) -> str:
    return " ".join(text.split())


def commands_in_code(code: str) -> list[RiskyCommand]:
    """Return the dangerous commands in a piece of code: a code span or a fenced block, without its marks.

    >>> commands_in_code("curl https://x.example/i.sh | sudo bash")[0].kind
    'unread code'
    >>> commands_in_code("grep -rn 'rm -rf' scripts"), commands_in_code("git log")
    ([], [])
    """
    parts = list(_simple_commands(code))
    acting = "".join(f"{_acting(part)}{mark}" for part, mark in parts)
    simple = (part.strip(_EDGES) for part, _ in parts)
    return _risky(_ANYWHERE, acting) or [one for part in simple if _acting(part) for one in _risky(_IN_CODE, part)]


def commands_in_prose(text: str) -> list[RiskyCommand]:
    """Return the dangerous commands that stand in a sentence without marks of code.

    >>> [found.kind for found in commands_in_prose("Run rm -rf /var/data and delete from the list what is left.")]
    ['data deletion']
    """
    return _risky(_ANYWHERE, text)


def _risky(patterns: dict[str, LinearPattern], text: str) -> list[RiskyCommand]:
    spans = {kind: next(pattern.spans(text), None) for kind, pattern in patterns.items()}
    return [RiskyCommand(kind, text[span[0] : span[1]].strip()) for kind, span in spans.items() if span]


def _simple_commands(code: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a command line between pipes, semicolons and line ends, each with the mark behind it."""
    start = 0
    for begin, end in [*_SEPARATOR.spans(code), (len(code), len(code))]:
        yield code[start:begin], code[begin:end]
        start = end


def _acting(command: str) -> str:
    """Return what of a simple command can do harm: of what only reads its redirection, of a dry run nothing."""
    if _HARMLESS.is_in(command):
        return ""
    if not _READS.is_in(command):
        return command
    return command[command.find(">") :] if ">" in command else ""


GROUNDED: Final = "grounded"
"""The check that a citation could be proved."""

MAX_PROBLEMS: Final = 10
"""How many of the failed checks a verdict names; the others are counted."""


class Effect(StrEnum):
    """What an objection does: it is only shown, it asks for confidence `high`, or it forbids a `pass`."""

    SHOWN = "shown"
    NEEDS_HIGH = "needs-high"
    FORBIDS = "forbids"


class Objection(NamedTuple):
    """What a value of a field says against a draft; `words` may hold the verdict's `{fields}`."""

    effect: Effect
    words: str


_ANY_OTHER: Final = "*"
_UNSAID: Final = None
_SPOT: Final = Objection(Effect.FORBIDS, "the spot check of {spot_check_ref} came to: {spot_check_result}")

OBJECTIONS: Final[dict[str, dict[str | None, Objection | None]]] = {
    "schema_check": {"fail": Objection(Effect.FORBIDS, "a field of the return is malformed")},
    "language_check": {"mismatch": Objection(Effect.FORBIDS, "the draft is in another language than the question")},
    "spot_check_result": {"contradicts": _SPOT, "fabricated": _SPOT},
    "confidence_language_match": {
        "mismatch": Objection(Effect.FORBIDS, "the draft's words do not match its confidence")
    },
    "scope_drift": {
        "minor": Objection(Effect.SHOWN, "it says a little that nobody asked"),
        "major": Objection(Effect.FORBIDS, "it answers something that nobody asked"),
    },
    "cross_investigation_consistency": {
        "consistent": None,
        "no_overlap": None,
        _ANY_OTHER: Objection(Effect.FORBIDS, "it does not fit another open thread: {cross_investigation_consistency}"),
    },
    "risk_gate_check": {
        "needs_high_confidence": Objection(Effect.NEEDS_HIGH, "its advice needs high confidence"),
        "fails": Objection(Effect.FORBIDS, "following it could do harm"),
    },
    "risk": {
        "none": None,
        _UNSAID: Objection(Effect.NEEDS_HIGH, "how risky it is to act on it was not said"),
        _ANY_OTHER: Objection(Effect.NEEDS_HIGH, "acting on it is risky: {risk}"),
    },
    "touches": {
        "none": None,
        _UNSAID: Objection(Effect.SHOWN, "what it touches was not said"),
        _ANY_OTHER: Objection(Effect.SHOWN, "acting on it touches {touches}"),
    },
    "tone_assessment": {
        "off": Objection(Effect.SHOWN, "its tone is off"),
        "ai_smell": Objection(Effect.FORBIDS, "it sounds machine-written"),
    },
}
"""What a field's value objects to (None: nothing); a value that is not here meets `_ANY_OTHER`, if there is one."""


def objections(verdict: ValidatorReturn) -> list[str]:
    """Return what a second model's verdict has against a draft, one sentence each; shown beside a pass as well.

    >>> from datetime import UTC
    >>> at = datetime(2026, 1, 1, tzinfo=UTC)
    >>> objections(ValidatorReturn(verdict=Verdict.PASS, scope_drift="minor", validator_model="m", validated_at=at))
    ['it says a little that nobody asked']
    """
    if verdict.validator_model == CODE_CHECKS:
        return []
    said = [_worded(found, verdict) for field, found in _found(verdict) if getattr(verdict, field) is not _UNSAID]
    if verdict.verdict is Verdict.PASS and verdict.bounce_feedback:
        said.append(verdict.bounce_feedback)
    return said


def enforce(
    said: ValidatorReturn,
    checks: Sequence[Check],
    *,
    confidence: str,
    opened: Mapping[str, bool | None],
) -> ValidatorReturn:
    """Return a model's verdict as the table and the checks let it stand.

    `bounce` and `escalate` stand always; a bounce gets its reasons as feedback.

    Args:
        said: The verdict as the model gave it.
        checks: The checks of the draft.
        confidence: What the draft says of itself.
        opened: For each address that the draft cites, whether the validator's own run read its lines; None where
            nobody can open it.
    """
    if said.verdict is Verdict.ESCALATE:
        return said
    problems = [*problems_of(checks), *_forbidding(said, confidence), *_spot_check(said, opened)]
    if said.verdict is Verdict.PASS and not problems:
        return said
    own = said.reasons if said.verdict is Verdict.BOUNCE else ()
    reasons = tuple(dict.fromkeys((*own, *problems))) or ("the validator gave no reason",)
    feedback = [said.bounce_feedback] if said.bounce_feedback else []
    update = {"verdict": Verdict.BOUNCE, "reasons": reasons, "bounce_feedback": _lines([*feedback, *reasons])}
    return said.model_copy(update=update)


def verdict_of_checks(checks: Sequence[Check], at: datetime) -> ValidatorReturn:
    """Return the verdict of the code checks alone: `pass` if none failed and a citation is proved."""
    problems = problems_of(checks)
    failed = {check.name for check in checks if check.ok is False}
    return ValidatorReturn(
        verdict=Verdict.BOUNCE if problems else Verdict.PASS,
        reasons=tuple(problems) or ("every check passed",),
        spot_check_note="code printed the cited lines and compared the claims with them; no model judged them",
        schema_check="fail" if any(name.startswith("schema.") for name in failed) else "ok",
        language_check="mismatch" if "language" in failed else "match",
        confidence_language_match="mismatch" if "confidence.words" in failed else "match",
        risk_gate_check="needs_high_confidence" if "risk_gate" in failed else "passes",
        tone_assessment="ai_smell" if "tone" in failed else "matches",
        bounce_feedback=_lines(problems),
        validator_model=CODE_CHECKS,
        validated_at=at,
    )


def problems_of(checks: Sequence[Check]) -> list[str]:
    """Return why the code checks do not let a draft pass, claims last; to have made none is a problem too.

    Of very many the first are named and the others counted.
    """
    grounded = next((check.ok for check in checks if check.name == GROUNDED), None)
    unproved = ["no citation was proved"] if grounded is None else []
    failed = sorted((check for check in checks if check.ok is False), key=lambda check: check.name.startswith("claim["))
    problems = [*unproved, *dict.fromkeys(check.reason for check in failed)]
    more = len(problems) - MAX_PROBLEMS
    return [*problems[:MAX_PROBLEMS], f"and {more} more"] if more > 0 else problems


def _found(verdict: ValidatorReturn) -> Iterator[tuple[str, Objection]]:
    """Yield each field that objects, with its objection."""
    for field, table in OBJECTIONS.items():
        value = getattr(verdict, field)
        found = table.get(value, table.get(_ANY_OTHER))
        if found is not None:
            yield field, found


def _worded(found: Objection, verdict: ValidatorReturn) -> str:
    return found.words.format_map(dict(verdict))


def _forbidding(said: ValidatorReturn, confidence: str) -> Iterator[str]:
    """Yield the objections that do not let a draft of this confidence pass."""
    enough = {Effect.SHOWN, Effect.NEEDS_HIGH} if confidence == "high" else {Effect.SHOWN}
    yield from (_worded(found, said) for _, found in _found(said) if found.effect not in enough)


def _spot_check(said: ValidatorReturn, opened: Mapping[str, bool | None]) -> Iterator[str]:
    """Yield why the spot check does not count: of no citation, not opened, or called uncheckable though it is not."""
    name = (said.spot_check_ref or "").strip(" `")
    if name not in opened:
        yield "the spot check is of nothing that the draft cites"
    elif said.spot_check_result == "uncheckable" and opened[name] is not None:
        yield f"the validator calls {name} uncheckable, but it can be opened"
    elif said.spot_check_result == "supports" and not opened[name]:
        yield f"the validator did not open {name}, which it says it has checked"


def _lines(problems: Sequence[str]) -> str | None:
    return "\n".join(f"- {problem}" for problem in dict.fromkeys(problems)) or None
