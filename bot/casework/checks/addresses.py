"""Looks up what a citation names: one `resolve` for lines of files, commits, results of tools and notes.

A citation is an address; code prints what stands there. Reads blobs and commits of HEAD's history (never the work
tree), the run's ledger and the notes of memory/. A file that holds secrets by name exists for nobody. No line is left
out for what it holds: only secrets in it are redacted before it is printed.

What people see of a draft's evidence: each citation with its mark and the lines at its address.

The lines are looked up anew, from the codebase, the run's ledger and the notes, and are redacted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

from bot.agent.git.git_history import GitHistory
from bot.agent.git.repositories import Repositories
from bot.agent.ledger import QueryEntry, result_lines
from bot.agent.run_records import RunRecorder
from bot.casework.checks.sources import Found, Lines, Missing, Sources, place_of, stale_citations, stands_at_head
from bot.domain.citations.citation_lines import BAD_RANGE, MAX_LINES, parse_lines, quoted_lines
from bot.domain.notes import RETIRED, KeptNote, stale_lines_notice
from bot.domain.returns import Check, EvidenceKind, EvidenceRef, InvestigatorReturn, why_marked
from bot.domain.search.files import is_secret_file
from bot.domain.secrets import redact, redact_lines
from bot.domain.text.sanitize import one_line, strip_hidden
from bot.domain.threads import ThreadState
from bot.errors import CodebaseUnreadable, ConfigError, ProviderError
from bot.ports import NoteStore

MAX_PRINTED_CHARS: Final = 20_000
"""Of the lines of one citation; more of them is data that nobody reads."""

MAX_PATHS: Final = 200
MAX_PATCH_LINES: Final = 5_000
"""Of a commit, to be compared with claims; each claim that cites it is held against all of them."""

CALL_LINES: Final = re.compile(r"([0-9]{1,6}):([0-9]{1,9})(?:-([0-9]{1,9}))?")


def resolve(ref: EvidenceRef, sources: Sources) -> Found:
    """Return what stands at a citation's address.

    Raises:
        ProviderError: git cannot be read.
        StoreError: the notes cannot be read.
    """
    if ref.kind is EvidenceKind.FILE:
        return _lines_of_file(ref, sources)
    if ref.kind is EvidenceKind.GIT_COMMIT:
        return _commit(ref, sources)
    if ref.kind is EvidenceKind.LOG_QUERY:
        return _result(ref, sources)
    if ref.kind is EvidenceKind.EXTERNAL_DOC:
        return Missing(f"{_name(ref)} is outside the codebase; code cannot look it up", None)
    return _note(ref, sources)


def stands_at(quote: str, found: Lines) -> bool:
    """Whether a quote that arrived with an address is what stands there, or a contiguous part of it."""
    if quoted_lines(quote, found.lines) is not None:
        return True
    return quoted_lines("\n".join(redact_lines(quote.split("\n"))), found.shown) is not None


def address_checks(index: int, ref: EvidenceRef, found: Found) -> Iterator[Check]:
    """Yield whether the citation of this number resolves, and whether a quote that came with it stands there."""
    name = f"ref[{index}]"
    if isinstance(found, Missing):
        yield Check(name=f"{name}.resolves", ok=found.ok, reason=found.why)
        return
    reason = f"{_name(ref)}: {found.caution}" if found.caution else f"{_name(ref)} exists"
    yield Check(name=f"{name}.resolves", ok=None if found.caution else True, reason=reason)
    if ref.quote.strip():
        stands = stands_at(ref.quote, found)
        said = "the quote stands there" if stands else f"“{one_line(ref.quote, 60)}” does not stand at this address"
        yield Check(name=f"{name}.quote", ok=stands, reason=f"{_name(ref)}: {said}")


def print_evidence(ret: InvestigatorReturn, sources: Sources) -> InvestigatorReturn:
    """Return a draft whose citations hold the lines at their addresses, and the commit at which these stand.

    What does not resolve stays as it came, and so does a quote that does not stand at its address: the checks refuse
    both. Raises as `resolve`.
    """
    return ret.evolve(evidence_refs=tuple(_printed(ref, sources) for ref in ret.evidence_refs))


def _printed(ref: EvidenceRef, sources: Sources) -> EvidenceRef:
    cited = parse_lines(ref.ref) if ref.kind is EvidenceKind.FILE and ref.commit is None else None
    ref = ref.evolve(commit=sources.read_at(cited)) if cited else ref
    found = resolve(ref, sources)
    if isinstance(found, Missing):
        return ref
    ref = ref.evolve(commit=found.commit or ref.commit)
    if ref.quote.strip() and not stands_at(ref.quote, found):
        return ref
    return ref.evolve(quote="\n".join(found.shown))


def _lines_of_file(ref: EvidenceRef, sources: Sources) -> Found:
    cited, name = parse_lines(ref.ref), _name(ref)
    if cited is None:
        return Missing(f"{name!r} is no file citation; one reads path:start-end or path:line")
    place = sources.repo.locate(cited.path, ref.commit)
    if problem := cited._replace(path=place.path).problem():
        return Missing(f"{name}: {problem}")
    if ref.commit is None:
        return Missing(f"{name}: no commit recorded, so nobody can tell which version was read")
    if is_secret_file(place.path):
        return Missing(f"{name}: a file of this name may hold secrets, so nobody reads or cites it")
    commit = sources.commit(ref.commit, cited.path)
    if commit is None:
        return Missing(f"{name}: there is no commit {ref.commit[:12]!r} in the history of HEAD")
    file = sources.file(place, commit)
    if isinstance(file, Missing):
        return file
    if why := _beyond(file.lines, cited.start, cited.end):
        return Missing(f"{name}: {why} at {commit[:12]}" if cited.end > len(file.lines) else f"{name}: {why}")
    kind = place_of(file.path)
    is_comment = kind == "program" and file.scan.is_comment(cited.start, cited.end)
    return _cut(
        file.lines,
        *file.scan.widened(cited.start, cited.end),
        sources,
        name,
        path=cited.path,
        commit=commit,
        place="comment" if is_comment else kind,
        was_read=sources.was_read(cited, commit) or sources.was_read(cited._replace(path=file.path), commit),
    )


def _cut(lines: Sequence[str], start: int, end: int, sources: Sources, name: str, **facts: Any) -> Found:
    """Return the lines `start`..`end` of a text, which has them, with `facts` about them."""
    printed = tuple(lines[start - 1 : end])
    chars = sum(map(len, printed))
    if chars > MAX_PRINTED_CHARS:
        return Missing(f"{name} has {chars:,} characters, too many to print", None)
    return Lines(lines=printed, shown=sources.redacted(lines, start, end), start=start, **facts)


def _beyond(lines: Sequence[str], start: int, end: int) -> str | None:
    """Return why a text does not have these lines, or has too many; None where they can be printed."""
    if start < 1 or end < start:
        return BAD_RANGE
    if end - start >= MAX_LINES:
        return f"a citation has at most {MAX_LINES} lines; cite only those that matter"
    return f"there are {len(lines)} lines" if end > len(lines) else None


def _commit(ref: EvidenceRef, sources: Sources) -> Found:
    sha = sources.commit(ref.ref)
    if sha is None:
        return Missing(f"there is no commit {ref.ref[:40]!r} in the history of HEAD")
    if ref.commit is not None and sources.commit(ref.commit) != sha:
        return Missing(f"{ref.ref[:12]} and {ref.commit[:12]!r} are not the same commit")
    history = GitHistory(sources.repo.holder(sha))
    (commit,) = history.commits(sha, limit=1)
    message, about = commit.message.split("\n"), f"{commit.author}, {commit.date}"
    return _cut(
        message,
        1,
        min(len(message), MAX_LINES),
        sources,
        f"commit {sha[:12]}",
        commit=sha,
        extra=(f"commit {sha}", about, *message[MAX_LINES:], *_patch(history, sha)),
        was_read=sources.ledger is not None and sources.ledger.was_shown(sha),
        about=about,
    )


def _patch(history: GitHistory, sha: str) -> list[str]:
    """Return what a commit changed in files that may be shown, and their names."""
    changed = history.changed_paths(sha)
    withheld = {path for path in changed if is_secret_file(path)}
    shown = [path for path in changed if path not in withheld]
    inside = (path for path in shown if not any(other.startswith(f"{path}/") for other in withheld))
    if not (paths := list(islice(inside, MAX_PATHS))):
        return shown
    return [*shown, *history.patch(sha, paths).text.split("\n", MAX_PATCH_LINES)[:MAX_PATCH_LINES]]


def _result(ref: EvidenceRef, sources: Sources) -> Found:
    """Return the cited lines of a tool's result; before results were numbered, a citation was the query itself."""
    name, ledger = _name(ref), sources.ledger
    if ledger is None:
        return Missing(f"{name!r}: without a ledger no query can be shown to have been made")
    cited = CALL_LINES.fullmatch(ref.ref.strip())
    if cited is None:
        return _quoted_result(ref, ledger.asked_servers(ref.ref), sources)
    entry = ledger.answer_of(int(cited[1]))
    if entry is None:
        return Missing(f"{name}: no call {cited[1]} was answered in this run")
    if entry.result is None:
        return Missing(f"{name}: call {cited[1]} read a file; cite its lines as path:start-end")
    return _result_lines(entry, int(cited[2]), int(cited[3] or cited[2]), sources, name)


def _result_lines(entry: QueryEntry, start: int, end: int, sources: Sources, name: str) -> Found:
    lines = result_lines(entry.result or "")
    if why := _beyond(lines, start, end):
        return Missing(f"{name}: {why}")
    return _cut(lines, start, end, sources, name, was_read=True, tool=entry.tool, call=entry.call)


def _quoted_result(ref: EvidenceRef, asked: Sequence[QueryEntry], sources: Sources) -> Found:
    name = _name(ref)
    if not asked:
        return Missing(f"{name!r} was never asked of a log or data server in this run")
    results = [entry for entry in asked if entry.result is not None]
    if not ref.quote.strip() or not results:
        return Missing(f"{name}: it names no lines of the result", None)
    for entry in results:
        if (at := quoted_lines(ref.quote, result_lines(entry.result or ""))) is not None:
            return _result_lines(entry, at.start + 1, at.stop, sources, name)
    return Missing(f"{name}: “{one_line(ref.quote, 60)}” does not stand in the result")


def _note(ref: EvidenceRef, sources: Sources) -> Found:
    """Return lines of a note, counted in its file; an earlier reply can only have come up in a search.

    A note whose own lines have changed proves nothing of the code.
    """
    name = _name(ref)
    if sources.notes is None or ref.ref.startswith("reply/"):
        came_up = sources.ledger is not None and sources.ledger.came_up(ref.ref)
        return Missing(f"{name} {'came up in this run' if came_up else 'cannot be looked up here'}", None)
    cited = parse_lines(ref.ref)
    path = (cited.path if cited else ref.ref).removeprefix("memory/")
    if RETIRED in PurePosixPath(path).parts[:-1]:
        return Missing(f"{name} was retired; it is no evidence any more")
    note = next((note for note in sources.notes.all() if note.ref == f"memory/{path}"), None)
    if note is None:
        return Missing(f"there is no note {name!r} in memory/")
    if cited is not None:
        return _lines_of_note(note, cited.start, cited.end, sources, name)
    quoted = quoted_lines(ref.quote, note.text.split("\n"))  # before notes were cited by line, the quote said which one
    if quoted is not None:
        return _lines_of_note(note, note.first_line + quoted.start, note.first_line + quoted.stop - 1, sources, name)
    if not ref.quote.strip():
        return Missing(f"{name}: it names no lines of the note", None)
    return Missing(f"{name}: “{one_line(ref.quote, 60)}” does not stand in that note")


def _lines_of_note(note: KeptNote, start: int, end: int, sources: Sources, name: str) -> Found:
    lines = note.whole.removesuffix("\n").split("\n")
    if why := _beyond(lines, start, end):
        return Missing(f"{name}: {why}")
    if start < note.first_line:
        return Missing(f"{name}: these lines stand above the note's own words")
    was_read = sources.ledger is not None and sources.ledger.came_up(note.ref)
    caution = stale_lines_notice(stale_citations(sources.repo, note.cites))
    return _cut(lines, start, end, sources, name, path=note.ref, was_read=was_read, caution=caution)


def _name(ref: EvidenceRef) -> str:
    return one_line(ref.ref, 80)


MAX_LINE_CHARS: Final = 240


class ShownCitation(NamedTuple):
    """One citation of a draft: what the checks said of it (None: not for code to say) and why, and what is there.

    `strange_quote` is what came with it and does not stand there, without credentials. `is_changed`: whether the lines
    of a file are not in it any more; None where that cannot be said.
    """

    ref: EvidenceRef
    mark: bool | None
    reason: str
    found: Found
    strange_quote: str = ""
    is_changed: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceReader:
    """Reads what the citations of a team's drafts point at."""

    repo: Repositories
    known_secrets: Collection[str] = ()
    runs: RunRecorder | None = None
    notes: NoteStore | None = None

    def citations(self, state: ThreadState, *, at_most: int) -> list[ShownCitation]:
        """Return the citations of a thread's latest draft, up to so many; raises StoreError."""
        run = state.investigator_task_id
        ledger = self.runs.ledger(run) if self.runs and run else None
        sources = Sources(self.repo, ledger, self.notes, self.known_secrets)
        return [
            self._shown(ref, mark, why_marked(state.checks, index, mark), sources)
            for index, (ref, mark) in enumerate(state.citations[:at_most])
        ]

    def _shown(self, ref: EvidenceRef, mark: bool | None, reason: str, sources: Sources) -> ShownCitation:
        found = found_or_why(ref, sources)
        is_there = isinstance(found, Lines) and stands_at(ref.quote, found)
        quote = "" if is_there else redact(ref.quote, self.known_secrets)
        open_now = next((check for check in address_checks(0, ref, found) if check.ok is not True), None)
        if mark and open_now is not None:  # a ✓ is for what was just read
            mark, reason = None, open_now.reason
        return ShownCitation(ref, mark, reason, found, quote, self._is_changed(ref, found))

    def _is_changed(self, ref: EvidenceRef, found: Found) -> bool | None:
        if ref.kind is not EvidenceKind.FILE or not isinstance(found, Lines) or found.path is None:
            return None
        try:
            repo, path = self.repo.locate(found.path, found.commit)
            return not stands_at_head(repo, repo.head(), path, "\n".join(found.lines))
        except (ProviderError, ConfigError, CodebaseUnreadable):
            return None


def found_or_why(ref: EvidenceRef, sources: Sources) -> Found:
    """Return what stands at an address; git's failures are a reason to show nothing."""
    try:
        return resolve(ref, sources)
    except (ProviderError, CodebaseUnreadable):
        return Missing("git could not read it", None)


def printed_lines(found: Lines) -> list[str]:
    r"""Return the lines behind their numbers, in one column; a commit's message without.

    Each stays one line and in its order, whatever separators and overrides of direction it holds.

    >>> printed_lines(Lines(lines=("a", "b"), shown=("a", "b\u2028c"), start=9, path="x.py"))
    [' 9  a', '10  b c']
    """
    if not found.path and not found.call:
        return [_plain(line) for line in found.shown]
    width = len(str(found.end))
    return [f"{at:>{width}}  {_plain(line)}".rstrip() for at, line in enumerate(found.shown, found.start)]


def _plain(line: str) -> str:
    clean = strip_hidden(line)[0].replace("\n", " ")
    more = len(clean) - MAX_LINE_CHARS
    return f"{clean[:MAX_LINE_CHARS]} … {more} more characters" if more > 0 else clean
