"""`triage why <permalink or thread id>` and `triage verify [thread]`: how a question came to its reply, and the proof.

Both need no running bot and no model, and write nothing. `why` reads the journals and the thread's file; a message
that no thread came of is explained as well, and `--run` prints the record of one run, from a disk or a database.
`verify` checks citations again, of a thread or of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, Final

import click

from bot.adapters.clocks import SystemClock
from bot.agent.git.git_repo import GitRepo
from bot.agent.git.repositories import Repositories
from bot.agent.run_records import RunRecorder
from bot.casework.checks.addresses import address_checks, found_or_why, printed_lines
from bot.casework.checks.sources import Found, Lines, Sources
from bot.casework.reports.past_thread import find_message, find_thread, name_pattern, why_answer
from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import (
    environment_at,
    in_its_team,
    names_at,
    reading,
    settings_at,
    store_at,
)
from bot.cli.options import FILE, json_option
from bot.cli.output import MARKS, WIDTH, show, to_json, wrapped
from bot.composition.codebases import open_team_code
from bot.domain.citations.citation_lines import parse_lines
from bot.domain.citations.links import LinkTo, code_links
from bot.domain.returns import EvidenceKind, EvidenceRef, evidence_in, ref_marks, why_marked
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line, strip_hidden
from bot.domain.threads import ThreadState
from bot.errors import CodebaseUnreadable, ConfigError, InputError, ProviderError
from bot.intake.classifier.classification import Rules
from bot.ports import Store
from bot.ports.collections import REPLIES
from bot.ports.threads import Threads

Record = dict[str, Any]
MAX_NAMED = 8
_LISTS = "`triage status` lists the open threads"


@click.command("why", help="From the message to the reply, step by step.")
@click.argument("thread", required=False, help="a Slack link to a message, or a thread id (T01.C01.1700000000.000100)")
@click.option("--run", metavar="ID", help="print the record of a run instead; with --json its trace")
@json_option
@scoped
def why_command(scope: Scope, thread: str | None, run: str | None, as_json: bool) -> int:
    """Print the chain, or the record of a run; exit code 0. Of several teams it is the one that has it.

    Raises:
        InputError: there is no such thread, message or run.
        StoreError: a file cannot be read.
    """
    if (thread is None) == (run is None):
        raise click.UsageError("give a thread, or --run ID; `triage open` lists the threads that wait")
    if run is not None:
        _, _, record = in_its_team(scope.teams(), lambda at: read_record(store_at(at), run, as_json=as_json))
        print(record)
        return 0
    assert thread is not None
    name, home, _ = in_its_team(scope.teams(), lambda at: find_message(store_at(at), thread))
    links = code_links(None) if as_json else _links(home, scope.config)
    answer = why_answer(store_at(home), thread, _rules(home, scope.config), links, names_at(home))
    print(to_json({"team": name, **dict(answer.data)}) if as_json else show(answer))
    return 0


def read_record(store: Store, run: str, *, as_json: bool) -> str:
    """Return the transcript and the log of a run, or its trace; raises InputError where nothing was kept of it."""
    name = PurePosixPath(run.strip().removeprefix("runs/")).name
    folder = store.runs.fetch(f"runs/{name}") if name not in ("", "..") else None
    files = [folder / one for one in (("trace.json",) if as_json else ("transcript.md", "run.log"))] if folder else []
    kept = [one.read_text(encoding="utf-8", errors="replace") for one in files if one.is_file()]
    if not kept:
        of_that_name = [one.partition("/")[2] for one in store.runs.folders() if name and name in one][-MAX_NAMED:]
        known = f"; there are {', '.join(of_that_name)}" if of_that_name else ""
        raise InputError(f"nothing was kept of a run {run[:80]!r}{known}")
    text = "\n\n".join(one.rstrip() for one in kept)
    return text if as_json else strip_hidden(text)[0]


def _rules(home: Path, config: Path | None) -> Rules:
    """Return the team's rules; the shipped ones where there is no config that can be read."""
    try:
        return Rules(**settings_at(config, home).classifier.model_dump())
    except ConfigError:
        return Rules()


def _links(home: Path, config: Path | None) -> LinkTo:
    """Return the links to the code host; none where config or codebase cannot be read, for nothing else needs them."""
    try:
        settings = settings_at(config, home)
        return open_team_code(settings, environment_at(home)).link_to
    except (ConfigError, ProviderError, CodebaseUnreadable):
        return code_links(None)


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
def verify_command(scope: Scope, thread: str, lines: bool, codebase: Path | None) -> int:
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
