"""`triage verify [thread]`: checks citations again, of a thread or of all, without a model or a running bot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import click

from bot.adapters.process.clocks import SystemClock
from bot.agent.git.git_repo import GitRepo
from bot.agent.git.repositories import Repositories
from bot.agent.run_records import RunRecorder
from bot.casework.checks.addresses import address_checks
from bot.casework.checks.shown_evidence import found_or_why, printed_lines
from bot.casework.checks.sources import Found, Lines, Sources
from bot.casework.reports.past_thread import find_thread, name_pattern
from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import (
    environment_at,
    in_its_team,
    reading,
    settings_at,
    store_at,
)
from bot.cli.options import FILE
from bot.cli.output import MARKS, WIDTH, wrapped
from bot.composition.codebases import open_team_code
from bot.domain.citations.citation_lines import parse_lines
from bot.domain.returns import EvidenceKind, EvidenceRef, evidence_in, ref_marks, why_marked
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line, strip_hidden
from bot.domain.threads import ThreadState
from bot.errors import InputError
from bot.ports import Store
from bot.ports.collections import REPLIES
from bot.ports.threads import Threads

MAX_REF = 60
MAX_NAME = 1_000
MAX_REPLIES: Final = 50
LOG_BYTES: Final = 8 * 1024 * 1024
_PINNED: Final = frozenset({EvidenceKind.FILE, EvidenceKind.GIT_COMMIT})


@dataclass(frozen=True, kw_only=True, slots=True)
class CitedAnswer:
    """What cites something: a thread on file, or a line of the reply log."""

    title: str
    run_id: str | None
    refs: Sequence[EvidenceRef]


@click.command("verify", help="Check every citation of a thread or a posted reply again; without THREAD, of all.")
@click.argument("thread", default="", help="a thread id (T01.C01.1700000000.000100) or a Slack link to a message in it")
@click.option("--lines", is_flag=True, help="also show the cited lines")
@click.option("--codebase", type=FILE, metavar="DIR", help="the git checkout (default: the config's)")
@scoped
def command(scope: Scope, thread: str, lines: bool, codebase: Path | None) -> int:
    """Print one line for each citation; exit code 0 if none is wrong and there is at least one, else 1."""
    teams, config = scope.teams(), scope.config
    if thread.strip():
        _, place, _ = in_its_team(teams, lambda at: _answers_at(at, thread))
        return 0 if _is_good(_verified(place, thread, lines, codebase, config)) else 1
    found: list[Finding] = []
    for name, place in teams.items():
        if len(teams) > 1:
            print(f"Team {name}")
        found += _verified(place, thread, lines, codebase, config)
    return 0 if _is_good(found) else 1


def _is_good(findings: Sequence[Finding]) -> bool:
    return bool(findings) and all(each.is_good for each in findings)


def _answers_at(home: Path, thread: str) -> list[CitedAnswer]:
    with reading(home) as store:
        return [_asked_for(store, thread)] if thread.strip() else _all(store)


def _verified(home: Path, thread: str, lines: bool, codebase: Path | None, config: Path | None) -> list[Finding]:
    """Print what is found of one team's citations, and return it."""
    environment, answers = environment_at(home), _answers_at(home, thread)
    repo: Repositories = (
        GitRepo(codebase) if codebase else open_team_code(settings_at(config, home), environment).codebases
    )
    store = store_at(home)
    runs = RunRecorder(store.runs, SystemClock())
    secrets = environment.secrets()
    findings: list[Finding] = []
    for answer in answers:
        ledger = runs.ledger(answer.run_id) if answer.run_id else None
        sources = Sources(repo, ledger, store.notes, secrets)
        found = [found_or_why(ref, sources) for ref in answer.refs]
        checked = [_finding(ref, one, sources) for ref, one in zip(answer.refs, found, strict=True)]
        print(render(answer, checked))
        if lines:
            print("\n".join(line for ref, one in zip(answer.refs, found, strict=True) for line in _shown(ref, one)))
        findings += checked
    if not thread.strip():
        print(
            f"{counted(len(answers), 'thread')}: {_sum(findings)}"
            if answers
            else f"No thread in {home} cites anything."
        )
    return findings


def _asked_for(store: Store, thread: str) -> CitedAnswer:
    """Return a thread by its id or link, else the latest line of the reply log about it."""
    try:
        return _of_thread(find_thread(store, thread))
    except InputError:
        name = name_pattern(thread)
        for record in reversed(list(store.journal(REPLIES).records(last_bytes=LOG_BYTES))):
            if fnmatchcase(str(record.get("thread_id")), name):
                return _of_reply(record)
        raise


def _all(store: Store) -> list[CitedAnswer]:
    """Return what is open and cites something, then the posted replies, the newest first, 50 at most."""
    threads = Threads(store.documents)
    opened = [_of_thread(state) for state in threads.open_threads()]
    records = list(store.journal(REPLIES).records(last_bytes=LOG_BYTES))[-MAX_REPLIES:]
    return [answer for answer in (*opened, *map(_of_reply, reversed(records))) if answer.refs]


def _of_thread(state: ThreadState) -> CitedAnswer:
    ending = f" ({state.resolution or state.pending_reason})" if state.resolution or state.pending_reason else ""
    return CitedAnswer(
        title=f"{state.thread_id}  {state.status}{ending}, round {state.investigator_round}",
        run_id=state.investigator_task_id,
        refs=state.evidence_refs,
    )


def _of_reply(record: Mapping[str, Any]) -> CitedAnswer:
    run, posted = record.get("investigator_task_id"), one_line(str(record.get("posted_at")), MAX_REF)
    return CitedAnswer(
        title=f"{one_line(str(record.get('thread_id')), MAX_NAME)}  reply posted {posted}",
        run_id=str(run) if run else None,
        refs=tuple(evidence_in(record)),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What was found of one citation; `is_here` is False where its commit is not in this checkout."""

    ref: EvidenceRef
    ok: bool | None
    reason: str
    is_here: bool = True

    @property
    def is_good(self) -> bool:
        """Whether nothing speaks against it."""
        return self.ok is not False


def _finding(ref: EvidenceRef, found: Found, sources: Sources) -> Finding:
    commit = ref.ref if ref.kind is EvidenceKind.GIT_COMMIT else ref.commit
    cited = parse_lines(ref.ref) if ref.kind is EvidenceKind.FILE else None
    if ref.kind in _PINNED and commit and sources.commit(commit, cited.path if cited else "") is None:
        why = f"no such commit here: {one_line(commit, 12)}; fetch it, or name its checkout with --codebase"
        return Finding(ref=ref, ok=False, reason=why, is_here=False)
    checks = list(address_checks(0, ref, found))
    ok = ref_marks(checks, 1)[0]
    return Finding(ref=ref, ok=ok, reason=why_marked(checks, 0, ok))


def render(answer: CitedAnswer, findings: Sequence[Finding]) -> str:
    """Return the table and its sum."""
    width = max((len(_name(ref)) for ref in answer.refs), default=0)
    lines = [_line(finding, min(width, MAX_REF)) for finding in findings]
    return "\n".join([answer.title, *lines, _sum(findings)])


def _sum(findings: Sequence[Finding]) -> str:
    """Return how many citations there are, and how many of each outcome."""
    away = sum(not each.is_here for each in findings)
    oks = [each.ok for each in findings if each.is_here]
    counts = {
        "correct": oks.count(True),
        "wrong": oks.count(False),
        "with no such commit here": away,
        "not checkable by code": oks.count(None),
    }
    said = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return f"{counted(len(findings), 'citation')}{f': {said}' if said else ''}"


def _shown(ref: EvidenceRef, found: Found) -> list[str]:
    """Return a citation and what it points at, without what a terminal would obey."""
    if isinstance(found, Lines):
        lines = [*printed_lines(found), *([found.about] if found.about else [])]
    else:
        lines = [f"(nothing to show: {found.why})"]
    return [_plain(line) for line in ("", ref.ref, *lines)]


def _name(ref: EvidenceRef) -> str:
    return one_line(ref.ref, MAX_NAME)


def _plain(line: str) -> str:
    """Return foreign words as the one line they are, their own blanks kept."""
    return strip_hidden(line)[0].replace("\n", " ")


def _line(finding: Finding, width: int) -> str:
    ref = finding.ref
    at = _plain(ref.commit or "")[:8]
    reason = _plain(finding.reason.removeprefix(f"{ref.ref}: "))
    lead = f"  {MARKS[finding.ok]} {ref.kind:<12} {_name(ref):<{width}}  {at:<8}"
    line = f"{lead}  {reason}"
    return line if len(line) <= WIDTH else f"{lead.rstrip()}\n{wrapped(reason, lead=' ' * 6)}"
