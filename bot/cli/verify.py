"""`triage verify <thread>`: looks every citation of a thread up again, without any model and without a running bot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from bot.adapters.process.system_clock import SystemClock
from bot.agent.git.git_repo import GitRepo
from bot.casework.checks.citation_checks import CitationSources, Proof, check_citation
from bot.casework.checks.evidence_reader import CommitFacts, EvidenceReader, ShownLines
from bot.casework.investigate.run_records import RunRecorder
from bot.cli.arguments import FILE, config_option
from bot.cli.data_directory import environment_at, settings_at
from bot.cli.output import MARKS, WIDTH, wrapped
from bot.cli.records import find_thread, reading
from bot.domain.returns import EvidenceRef
from bot.domain.text.sanitize import one_line, strip_hidden
from bot.domain.threads import ThreadState

MAX_REF = 60
MAX_NAME = 1_000


@click.command("verify", help="Check every citation of a thread again.")
@click.argument("thread", help="a thread id (T01.C01.1700000000.000100) or a Slack link to one of its messages")
@click.option("--lines", is_flag=True, help="also show the cited lines with the lines around them")
@click.option("--codebase", type=FILE, metavar="DIR", help="the git checkout (default: the config's)")
@config_option
def command(thread: str, lines: bool, codebase: Path | None, config: Path | None) -> int:
    """Print one line for each citation; exit code 0 if none is refuted and there is at least one, else 1."""
    environment = environment_at(None)
    home = environment.home
    with reading(home) as store:
        state = find_thread(store, thread)
    run = state.investigator_task_id
    ledger = RunRecorder(home / "runs", SystemClock()).ledger(run) if run else None
    repo = GitRepo(codebase or settings_at(config, home).codebase)
    sources = CitationSources(repo=repo, ledger=ledger, memory=home / "memory")
    refs = state.investigator_return.evidence_refs if state.investigator_return else ()
    proofs = [check_citation(ref, sources) for ref in refs]
    print(render(state, refs, proofs))
    if lines:
        reader = EvidenceReader(repo=repo, known_secrets=environment.secrets())
        print("\n".join(line for ref in refs for line in _shown(ref, reader)))
    return 0 if proofs and all(proof.ok is not False for proof in proofs) else 1


def render(state: ThreadState, refs: Sequence[EvidenceRef], proofs: Sequence[Proof]) -> str:
    """Return the table and its sum."""
    ending = f" ({state.resolution or state.pending_reason})" if state.resolution or state.pending_reason else ""
    lines = [f"{state.thread_id}  {state.status}{ending}, round {state.investigator_round}"]
    width = max((len(_name(ref)) for ref in refs), default=0)
    lines += [_line(ref, proof, min(width, MAX_REF)) for ref, proof in zip(refs, proofs, strict=True)]
    oks = [proof.ok for proof in proofs]
    proved, refuted, open_ = oks.count(True), oks.count(False), oks.count(None)
    count = f"{len(oks)} citation{'s' * (len(oks) != 1)}"
    lines.append(f"{count}: {proved} proved, {refuted} refuted, {open_} cannot be checked by code")
    return "\n".join(lines)


def _shown(ref: EvidenceRef, reader: EvidenceReader) -> list[str]:
    """Return a citation's claim and what it points at, without what a terminal would obey."""
    found = reader.read(ref)
    if isinstance(found, ShownLines):
        lines = found.shown()
    elif isinstance(found, CommitFacts):
        lines = [found.subject, f"{found.author}, {found.date}"]
    else:
        lines = [f"(nothing to show: {found.why})"]
    claim = [f"for: {' '.join(ref.supports_claim.split())}"] if ref.supports_claim else []
    return [_plain(line) for line in ("", ref.ref, *claim, *lines)]


def _name(ref: EvidenceRef) -> str:
    return one_line(ref.ref, MAX_NAME)


def _plain(line: str) -> str:
    """Return foreign words as the one line they are, their own blanks kept."""
    return strip_hidden(line)[0].replace("\n", " ")


def _line(ref: EvidenceRef, proof: Proof, width: int) -> str:
    at = _plain(ref.commit or "")[:8]
    findings = [proof.quote, proof.resolves] if proof.resolves.ok is not False else [proof.resolves]
    reason = next(finding.reason for finding in findings if finding is not None)
    reason = _plain(reason.removeprefix(f"{ref.ref}: "))
    lead = f"  {MARKS[proof.ok]} {ref.kind:<12} {_name(ref):<{width}}  {at:<8}"
    line = f"{lead}  {reason}"
    return line if len(line) <= WIDTH else f"{lead.rstrip()}\n{wrapped(reason, lead=' ' * 6)}"
