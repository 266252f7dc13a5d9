"""The result of a validation, and the validator that needs no model: the checks by code and their verdict.

The deterministic checks come first; a model that validates (bot/casework/checks/model_validator.py) receives their
results. Code can only make a verdict stricter: a `pass` that breaks a rule becomes a `bounce`, never the other way
round.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol

from bot.agent.git.repositories import Repositories
from bot.agent.ledger import Ledger
from bot.agent.model_run import OnProgress
from bot.agent.run_records import RunRecorder
from bot.casework.checks.draft_checks import GROUNDED, check_return
from bot.domain.citations.citation_lines import parse_lines
from bot.domain.questions.draft_language import is_in_language
from bot.domain.questions.rubrics import rubric_for
from bot.domain.returns import CODE_CHECKS, Check, EvidenceKind, EvidenceRef, Usage, ValidatorReturn, Verdict, ref_marks
from bot.domain.threads import ThreadState
from bot.ports import Clock, NoteStore

_UNCHECKABLE: Final = frozenset(EvidenceKind) - {EvidenceKind.FILE, EvidenceKind.GIT_COMMIT}


@dataclass(frozen=True, kw_only=True, slots=True)
class Validation:
    """A verdict and the checks it rests on; `ret` is None where no verdict came about, and `problem` says why."""

    ret: ValidatorReturn | None
    checks: tuple[Check, ...]
    usage: Usage = field(default_factory=Usage)
    ledger: Ledger = field(default_factory=Ledger)
    problem: str | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    """Which limit of time ended the run, if one did: `timeout_kind`, `timeout_s`, `stall_s`."""
    convergence_forced: bool = False

    @property
    def passed(self) -> bool:
        """Whether every check and the validator let the draft through."""
        return self.ret is not None and self.ret.verdict is Verdict.PASS

    def as_trace(self) -> dict[str, Any]:
        """Return what the record of the run keeps."""
        return {
            "problem": self.problem,
            **self.limits,
            "convergence_forced": self.convergence_forced,
            "usage": self.usage.model_dump(),
            "ledger": self.ledger.model_dump(),
            "checks": [check.model_dump() for check in self.checks],
            "return": self.ret.model_dump(mode="json") if self.ret else None,
        }


class Validator(Protocol):
    """Judges the latest draft of a thread."""

    def validate(
        self,
        state: ThreadState,
        *,
        run_id: str,
        summaries: Sequence[str] = (),
        on_progress: OnProgress | None = None,
    ) -> Validation:
        """Return the verdict on `state.investigator_return`; raises ProviderError when not even code can check it.

        `summaries` has one line for each other open thread.
        """


def verdict_of_checks(checks: Sequence[Check], at: datetime) -> ValidatorReturn:
    """Return the verdict of the code checks alone: `pass` if none failed and a citation is proved."""
    problems = list(_problems(checks))
    failed = {check.name for check in checks if check.ok is False}
    return ValidatorReturn(
        verdict=Verdict.BOUNCE if problems else Verdict.PASS,
        reasons=tuple(problems) or ("every check passed",),
        spot_check_note="code compared every quote with its source; no model judged what the quotes prove",
        schema_check="fail" if any(name.startswith("schema.") for name in failed) else "ok",
        confidence_language_match="mismatch" if "confidence.words" in failed else "match",
        risk_gate_check="needs_high_confidence" if "risk_gate" in failed else "passes",
        tone_assessment="ai_smell" if "tone" in failed else "matches",
        bounce_feedback=_feedback(problems),
        validator_model=CODE_CHECKS,
        validated_at=at,
    )


def enforce_checks(
    ret: ValidatorReturn, checks: Sequence[Check], refs: Sequence[EvidenceRef], ledger: Ledger | None = None
) -> ValidatorReturn:
    """Return a model's verdict as the rules let it stand.

    `pass` stands only if all code checks are green, the model's own findings agree with it, and `ledger`, the record
    of the validator's own run, shows that it read what it says it has checked. `bounce` and `escalate` stand always;
    a bounce without feedback gets its reasons as feedback.
    """
    if ret.verdict is Verdict.ESCALATE:
        return ret
    proved = [ref for ref, mark in zip(refs, ref_marks(checks, len(refs)), strict=True) if mark]
    problems = [*_problems(checks), *_contradictions(ret, refs, proved, ledger or Ledger())]
    if ret.verdict is Verdict.PASS and not problems:
        return ret
    bounced = ret.verdict is Verdict.BOUNCE
    reasons = tuple(dict.fromkeys((*(ret.reasons if bounced else ()), *problems))) or ("the validator gave no reason",)
    feedback = ret.bounce_feedback if bounced and ret.bounce_feedback else None
    return ret.model_copy(
        update={
            "verdict": Verdict.BOUNCE,
            "reasons": reasons,
            "bounce_feedback": _feedback([*([feedback] if feedback else []), *reasons]),
        }
    )


def _problems(checks: Sequence[Check]) -> Iterator[str]:
    """Yield why the code checks are not all green; to have made none is a problem too."""
    yield from (check.reason for check in checks if check.ok is False)
    if not any(check.name == GROUNDED for check in checks):
        yield "the citations were not checked"
    elif any(check.name == GROUNDED and check.ok is None for check in checks):
        yield "no citation could be proved"


def _contradictions(
    ret: ValidatorReturn, refs: Sequence[EvidenceRef], proved: Sequence[EvidenceRef], ledger: Ledger
) -> Iterator[str]:
    """Yield what in the validator's own findings, or in the record of its run, forbids a pass."""
    if ret.schema_check != "ok":
        yield "the validator found the return malformed"
    checked = [ref for ref in refs if ref.ref == (ret.spot_check_ref or "").strip(" `")]
    if not _spot_check_holds(ret, checked):
        yield f"the spot check of {ret.spot_check_ref or 'no citation'} came to: {ret.spot_check_result}"
    elif ret.spot_check_result == "supports" and not all(_was_opened(ref, proved, ledger) for ref in checked):
        yield f"the validator did not open {ret.spot_check_ref}, which it says it has checked"
    if ret.confidence_language_match != "match":
        yield "the draft's words do not match its confidence"
    if ret.risk_gate_check == "fails":
        yield "the draft fails the risk gate"
    if ret.tone_assessment == "ai_smell":
        yield "the draft sounds machine-written"


def _spot_check_holds(ret: ValidatorReturn, checked: Sequence[EvidenceRef]) -> bool:
    """Whether one of the draft's own citations was found to support it, or is of a kind nobody can look up."""
    if ret.spot_check_result == "supports":
        return bool(checked)
    return ret.spot_check_result == "uncheckable" and bool(checked) and {ref.kind for ref in checked} <= _UNCHECKABLE


def _was_opened(ref: EvidenceRef, proved: Sequence[EvidenceRef], ledger: Ledger) -> bool:
    """Whether the validator read the cited lines; a commit it cannot open, and is shown the quote that code proved."""
    if ref.kind is EvidenceKind.GIT_COMMIT:
        return ref in proved
    cited = parse_lines(ref.ref) if ref.kind is EvidenceKind.FILE else None
    return cited is not None and ledger.covers(*cited)


def _feedback(problems: Sequence[str]) -> str | None:
    return "\n".join(f"- {problem}" for problem in dict.fromkeys(problems)) or None


class CodeValidator:
    """Port Validator: free, deterministic, the same answer every time.

    With `team_language` a question in that language wants an answer in it; a foreign one its own.
    """

    def __init__(
        self,
        codebase: Path | Repositories,
        notes: NoteStore,
        runs: RunRecorder,
        clock: Clock,
        *,
        secrets: Collection[str] = (),
        team_language: str | None = None,
    ) -> None:
        self._codebase, self._notes, self._runs, self._clock = codebase, notes, runs, clock
        self._secrets, self._team_language = secrets, team_language

    def validate(
        self,
        state: ThreadState,
        *,
        run_id: str,  # noqa: ARG002 - the port's
        summaries: Sequence[str] = (),  # noqa: ARG002 - code cannot compare answers
        on_progress: OnProgress | None = None,  # noqa: ARG002 - it is done before anybody could ask
    ) -> Validation:
        """Return the verdict of the code checks on the thread's latest draft; raises ProviderError when git fails."""
        assert state.investigator_return is not None
        ledger = self._runs.ledger(state.investigator_task_id) if state.investigator_task_id else None
        # a run whose record is gone has read nothing that can be shown
        checks = check_return(
            state.investigator_return,
            repo=self._codebase,
            ledger=ledger or Ledger(),
            rubric=rubric_for(state.question_type, language=self._language_for(state.question)),
            notes=self._notes,
            known_secrets=self._secrets,
        )
        return Validation(ret=verdict_of_checks(checks, at=self._clock.now()), checks=tuple(checks))

    def _language_for(self, question: str) -> str | None:
        team = self._team_language
        return team if team and is_in_language(question, team) else None
