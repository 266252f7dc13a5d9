"""One question looked into without Slack: the draft, its evidence with marks, the verdict; as text or as JSON.

What an investigation works with, opened for one process without Slack.
"""

from __future__ import annotations

import textwrap
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from bot.adapters.clocks import SystemClock
from bot.adapters.search.note_index import WordNoteIndex
from bot.agent.git.git_repo import GitRepo
from bot.agent.model_run import RunFailed
from bot.casework.checks.sources import stale_citations
from bot.casework.investigate.question_run import QuestionRun, QuestionRunner, Say
from bot.cli.arguments import Scope
from bot.cli.data_directory import environment_at, settings_at
from bot.cli.output import MARKS, WIDTH, index_progress, to_json, wrapped
from bot.cli.search import OR_ANY_CHECKOUT, open_codebases
from bot.composition.codebases import TeamCode, open_team_code
from bot.composition.investigators import CaseworkModels, InvestigationInputs
from bot.composition.storage_engine import open_store
from bot.config.environment import Environment, process_home
from bot.config.home import find_config
from bot.config.settings import Settings
from bot.domain.patches import fenced_diff, patch_summary
from bot.domain.questions.approval_basis import OFFLINE, backed_words, basis_of, passed_words
from bot.domain.questions.verdict_rules import objections
from bot.domain.returns import (
    EvidenceRef,
    ProposedPatch,
    SuspectChange,
    ValidatorReturn,
    assumed_words,
    claim_marks,
    marked_draft,
    ref_marks,
    remark_on,
)
from bot.domain.secrets import redact
from bot.domain.text.humanize import counted, utc_text
from bot.domain.text.sanitize import one_line, strip_hidden, without_marks
from bot.errors import CodebaseUnreadable, ConfigError, TriageError
from bot.ports.collections import REPLIES

MAX_NAME: Final = 1_000
_NO_CHANNEL: Final = "C0000000000"
MAX_DIFF_LINES: Final = 200
SHOWN_LINES: Final = 3
"""Of a citation; `triage verify --lines` shows all."""

MAX_CANDIDATE_LINES: Final = 12
SUSPECTS: Final = "Suspect changes where the stack trace leads; nobody has judged them"


def investigate_locally(question: str, sources: InvestigationInputs, *, say: Say) -> QuestionRun:
    """Investigate, check and validate, telling `say` how it goes.

    Raises:
        TriageError: as the investigator, the validator and the record do.
    """
    models = CaseworkModels(sources)
    try:
        for one in sources.code.codebases:
            try:
                one.index.refresh(index_progress(say))
            except CodebaseUnreadable as error:
                if len(sources.code.codebases) == 1:
                    raise
                say(f"not searched: {one.id}: {error}")
        say(f"investigating with {models.described} …")
        return question_runner(models, sources).run(question, say=say)
    finally:
        models.close()


def question_runner(models: CaseworkModels, sources: InvestigationInputs) -> QuestionRunner:
    """Return what investigates a question with these models."""
    return QuestionRunner(
        investigator=models.investigator,
        validator=models.validator,
        runs=models.runs,
        memory=sources.memory,
        clock=sources.clock,
        home=sources.environment.home,
    )


def render(findings: QuestionRun, home: Path) -> str:
    """Return the findings for a terminal; the draft's own lines are not broken."""
    ret = findings.found.ret
    draft = without_marks(marked_draft(ret, findings.validation.checks), keep_emoji=True, keep_fences=True)
    blocks = [_indented(draft) if draft.strip() else "  (no draft)"]
    if ret.evidence_refs:
        marks = ref_marks(findings.validation.checks, len(ret.evidence_refs))
        lines = [_evidence(ref, mark) for ref, mark in zip(ret.evidence_refs, marks, strict=True)]
        blocks.append("\n".join(["Evidence", *lines]))
    if ret.candidates:
        blocks.append("\n".join(["Also found", *map(_candidate, ret.candidates)]))
    if ret.suspect_changes:
        blocks.append("\n".join([SUSPECTS, *map(_suspect, ret.suspect_changes)]))
    if ret.open_questions:
        blocks.append("\n".join(["Needed to answer this", *(_point(each) for each in ret.open_questions)]))
    if ret.not_searched:
        blocks.append(textwrap.fill(f"Not searched: {redact(ret.not_searched)}", WIDTH, subsequent_indent="  "))
    blocks += ["\n".join(one.words() for one in ret.aged_clones)] if ret.aged_clones else []
    blocks += _patch(ret.proposed_patch)
    blocks.append(_verdict(findings))
    blocks.append(f"{_facts(findings)}\n{_records(findings, home)}")
    return strip_hidden("\n\n".join(blocks))[0]


def _suspect(one: SuspectChange) -> str:
    author, subject = redact(one.author), redact(one.subject)
    said = f"{one_line(one.ref, MAX_NAME)} changed {utc_text(one.changed_at)} in {one.commit[:7]}"
    return f"  {said}{f' by {author}' if author else ''}{f': {subject}' if subject else ''}"


def _records(findings: QuestionRun, home: Path) -> str:
    """Return where the runs are on record; the validator's, where it came to no verdict."""
    failed = f"\n        {home}/runs/{findings.validation_id} (no verdict; run.log has what happened)"
    return f"record: {home}/runs/{findings.run_id}{failed if findings.validation.ret is None else ''}"


def _patch(patch: ProposedPatch | None) -> list[str]:
    """Return the proposed patch, if there is one: in short, why, and its diff."""
    if patch is None or patch.is_empty:
        return []
    why = [_point(redact(patch.rationale))] if patch.rationale.strip() else []
    head = wrapped(f"Proposed patch (not applied): {patch_summary(patch)}")
    return ["\n".join([head, *why, *fenced_diff(patch, at_most=MAX_DIFF_LINES)])]


def findings_json(findings: QuestionRun) -> str:
    """Return the findings as one JSON object."""
    verdict = findings.validation.ret
    facts: dict[str, Any] = {
        "question": findings.state.question,
        "run_id": findings.run_id,
        "investigator": findings.found.investigator,
        "passed": findings.validation.passed,
        "investigator_return": findings.found.ret.model_dump(mode="json"),
        "checks": [check.model_dump() for check in findings.validation.checks],
        "validator_return": verdict.model_dump(mode="json") if verdict else None,
        "problem": findings.validation.problem,
        **findings.validation.limits,
        "usage": findings.usage.model_dump(),
    }
    return to_json(facts)


def failure_json(question: str, error: TriageError) -> str:
    """Return an investigation that failed as one JSON object: why, which limit ended it, what it cost."""
    cost = {**error.limits(), "usage": error.usage.model_dump()} if isinstance(error, RunFailed) else {"usage": None}
    return to_json({"question": question, "passed": False, "error": str(error), **cost})


def _verdict(findings: QuestionRun) -> str:
    verdict = findings.validation.ret
    if not findings.found.ret.draft_reply.strip():
        return "? needs context; there is nothing to check"
    if verdict is None:
        return f"✗ the draft could not be validated: {findings.validation.problem}"
    if findings.validation.passed:
        return _passed(findings, verdict)
    return "\n".join([f"✗ {verdict.verdict}", *(_point(reason) for reason in verdict.reasons)])


def _passed(findings: QuestionRun, verdict: ValidatorReturn) -> str:
    """Return the badge that the card would show: a search is no answer, and a second model is named with its reads."""
    found, judge = findings.found, verdict.validator_model
    basis = basis_of(drafted_by=found.investigator, judged_by=judge, usage=findings.usage)
    matches = backed_words(claim_marks(findings.validation.checks, len(found.ret.said_claims)))
    badge, rest = passed_words(basis, judge=judge, matches=matches, read=verdict.read)
    return "\n".join([f"{badge} · {rest}", *(_point(f"second model noted: {one}") for one in objections(verdict))])


def _facts(findings: QuestionRun) -> str:
    usage, found = findings.usage, findings.found
    cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.2f}{assumed_words(usage)}"
    if found.investigator == OFFLINE:
        return OFFLINE
    return f"{found.investigator}, confidence {found.ret.confidence}" + (
        f", {usage.tokens:,} tokens, {cost}" if usage.tokens else ""
    )


def _evidence(ref: EvidenceRef, mark: bool | None) -> str:
    """Return a citation: mark, place, what is said of one without a ✓, and the first of the printed lines."""
    at = f" at {one_line(ref.commit[:7], 7)}" if ref.commit and ref.commit != ref.ref else ""
    said = remark_on(ref, mark)
    remark = f"\n{textwrap.indent(textwrap.fill(said, WIDTH - 6), '      ')}" if said else ""
    return f"  {MARKS[mark]} {one_line(ref.ref, MAX_NAME)}{at}{remark}{_quoted(ref, SHOWN_LINES)}"


def _candidate(ref: EvidenceRef) -> str:
    """Return what else a search found: its sentence and its lines."""
    return f"{_point(one_line(without_marks(redact(ref.supports_claim)), MAX_NAME))}{_quoted(ref, MAX_CANDIDATE_LINES)}"


def _quoted(ref: EvidenceRef, shown: int) -> str:
    """Return the first printed lines of a citation, and how many there are more."""
    lines = [one_line(line, WIDTH - 8) for line in redact(ref.quote).split("\n") if line.strip()]
    more = [f"… and {counted(len(lines) - shown, 'more line')}"] if len(lines) > shown else []
    return "".join(f"\n      {line}" for line in (*(f"| {line}" for line in lines[:shown]), *more))


def _point(text: str) -> str:
    return wrapped(text, lead="  - ")


def _indented(text: str) -> str:
    return textwrap.indent(text.strip(), "  ")


def open_any_sources(scope: Scope, codebase: Path | None) -> InvestigationInputs:
    """Return the inputs of the team that is meant, or those for any checkout.

    `codebase` needs no triage.yml, but the models and limits of one that is there hold.

    Raises:
        ConfigError: the config or the environment cannot be used.
        InputError: it is not said which team is meant.
        ProviderError: `codebase` is no git checkout.
    """
    environment = environment_at(scope.one_team())
    try:
        find_config(scope.config, process_home(environment.home))
    except ConfigError as error:
        if codebase is None:
            raise ConfigError(*error.problems, OR_ANY_CHECKOUT) from error
        if scope.config is not None:
            raise
        settings = Settings(codebase=GitRepo(codebase).root, ops_channel=_NO_CHANNEL)
    else:
        settings = settings_at(scope.config, environment.home)
    if codebase is None:
        return open_sources(settings, environment)
    members = open_codebases(codebase, environment.home, scope.config)
    code = TeamCode(codebases=members, ids=set(), link_to=lambda _: None)
    return open_sources(settings, environment, code=code)


def open_sources(
    settings: Settings, environment: Environment, *, is_long: bool = False, code: TeamCode | None = None
) -> InvestigationInputs:
    """Return codebases (`code`, else those of the settings), memory and clock.

    Raises:
        ConfigError: a codebase is no git checkout.
    """
    code, storage = code or open_team_code(settings, environment), open_store(environment)
    return InvestigationInputs(
        settings=settings,
        environment=environment,
        code=code,
        storage=storage,
        memory=WordNoteIndex(storage.notes, storage.journal(REPLIES), partial(stale_citations, code.codebases)),
        clock=SystemClock(),
        is_long=is_long,
    )


def without_model(sources: InvestigationInputs) -> InvestigationInputs:
    """Return the same for an investigation by search and code checks, whatever keys there are."""
    return replace(
        sources,
        settings=sources.settings.model_copy(update={"provider": "anthropic"}),
        environment=sources.environment.model_copy(update={"anthropic_api_key": None}),
    )
