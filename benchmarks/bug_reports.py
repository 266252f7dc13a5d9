"""Does the search find the file of a bug report, however long it is? And the lines a question's reference answer names?

    python -m benchmarks.bug_reports [FOLDER] [--only NAME ...] [--kind KIND] [--misses]

Runs on what is present in FOLDER (default: ./benchmark-data), clones under the bare names of their repositories:

    git clone --mirror https://github.com/gersteinlab/LocAgent        FOLDER/LocAgent
    git clone --mirror https://github.com/peng-weihan/SWE-QA-Bench    FOLDER/SWE-QA-Bench
    git clone --mirror https://github.com/pallets/flask               FOLDER/flask        (and so on)

LocAgent holds the reports of SWE-bench Lite with the files of their fixes, SWE-QA-Bench questions with reference
answers. BM25 is SQLite's, over the same passages, with every word of the text. Indexes are kept in FOLDER/.cache.
Exit code 0 if the targets are met, or if there is no data.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.finder_answers import draft, seen_questions
from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.offline_investigator import OfflineInvestigator
from bot.casework.investigate.trace_places import search_text
from bot.domain.citations.citation_lines import parse_lines
from bot.domain.returns import EvidenceKind, InvestigatorReturn
from bot.domain.search.definitions import definitions_in
from bot.domain.search.files import FileKind, file_kind, file_lines, is_indexed, is_prose
from bot.domain.search.passages import split_into_chunks

DATA = "benchmark-data"
REPORTS = "evaluation/loc_output/locagent/claude_3-5/loc_outputs.jsonl"
TOP = 5
SEARCHED = 40
TARGETS = {
    "reports": {"first": 0.45, "top": 0.78},
    "questions": {"draft_first": 0.68, "draft_cited": 0.86, "lines": 0.55},
}
_PATH = re.compile(r"[\w./-]{1,200}\.(?:py|pyi|rst|md|toml|cfg|ini|txt|ya?ml|html|js|css)\b")
_LINES = re.compile(r"\blines?\s+(\d{1,6})(?:\s*[-\u2013]\s*(\d{1,6}))?|(?<=\w):(\d{1,6})(?:-(\d{1,6}))?")
_WORD = re.compile(r"\w+")

Range = tuple[str, int, int]


class Case(NamedTuple):
    """A text, the commit it is about, the files that are right, and the lines where they are known."""

    id: str
    text: str
    commit: str
    files: frozenset[str]
    lines: tuple[Range, ...] = ()


class Result(NamedTuple):
    """Whether the right file comes first, or among TOP, in the search and in BM25; what the draft cites and quotes.

    `lines` is None where no right lines are known.
    """

    first: bool
    top: bool
    bm25_first: bool
    bm25_top: bool
    draft_first: bool
    draft_cited: bool
    lines: bool | None
    has_draft: bool = False
    """What the draft says it rests on; None without a draft."""


COLUMNS = Result._fields[:-1]


class Bm25:
    """Files by the BM25 score of their best passage, every word of the text joined by OR.

    For reports only source files: each fix is in one, and that helps the baseline.
    """

    def __init__(self, repo: GitRepo, *, only_source: bool) -> None:
        self._rows = sqlite3.connect(":memory:")
        self._rows.execute("CREATE VIRTUAL TABLE passage USING fts5 (path, body, tokenize = 'porter unicode61')")
        entries = [one for one in repo.tree(repo.head()) if is_indexed(one.path) and one.size < 1_000_000]
        if only_source:
            entries = [one for one in entries if file_kind(one.path) is FileKind.SOURCE]
        contents = repo.blobs({one.blob for one in entries})
        for entry in entries:
            lines = file_lines(contents[entry.blob]) or []
            texts = [
                "\n".join(lines[one.start - 1 : one.end])
                for one in split_into_chunks(lines, definitions_in(entry.path, lines), prose=is_prose(entry.path))
            ]
            self._rows.executemany("INSERT INTO passage VALUES (?, ?)", [(entry.path, text) for text in texts])

    def files(self, text: str) -> list[str]:
        """Return the files, the best first."""
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(_WORD.findall(text.lower())))
        found = self._rows.execute("SELECT path FROM passage WHERE passage MATCH ? ORDER BY bm25(passage)", (words,))
        return list(dict.fromkeys(path for (path,) in found))


class Codebase:
    """One commit of a codebase with its index."""

    def __init__(self, clone: Path, commit: str, cache: Path, *, only_source: bool) -> None:
        self.repo = GitRepo(_checkout(clone, commit, cache))
        self.index = SqlitePassageIndex(self.repo, cache / f"{clone.name}-{commit[:12]}.sqlite")
        self.index.refresh()
        self.offline = OfflineInvestigator(self.repo, self.index)
        self.bm25 = Bm25(self.repo, only_source=only_source)

    def ask(self, case: Case) -> Result:
        """Search for one text in each way."""
        found = list(dict.fromkeys(one.path for one in search_text(case.text, self.repo, self.index, limit=SEARCHED)))
        ret = draft(self.offline, case.text)
        cited, plain = cited_files(ret), self.bm25.files(case.text)
        return Result(
            first=not case.files.isdisjoint(found[:1]),
            top=not case.files.isdisjoint(found[:TOP]),
            bm25_first=not case.files.isdisjoint(plain[:1]),
            bm25_top=not case.files.isdisjoint(plain[:TOP]),
            draft_first=not case.files.isdisjoint(cited[:1]),
            draft_cited=not case.files.isdisjoint(cited),
            lines=_overlaps(ret, case.lines) if case.lines else None,
            has_draft=bool(ret.draft_reply.strip()),
        )


def _checkout(clone: Path, commit: str, cache: Path) -> Path:
    """Return a checkout whose HEAD is the commit; it shares the objects of the clone and has no files."""
    folder = cache / f"{clone.name}-{commit[:12]}"
    if not (folder / ".git").is_dir():
        git = ["git", "clone", "--quiet", "--shared", "--no-checkout", str(clone.resolve()), str(folder)]
        subprocess.run(git, check=True)
    subprocess.run(["git", "-C", str(folder), "update-ref", "--no-deref", "HEAD", commit], check=True)
    return folder


def _overlaps(ret: InvestigatorReturn, right: Sequence[Range]) -> bool:
    """Whether a quote holds one of the right lines."""
    refs = (*ret.evidence_refs, *ret.candidates)
    quoted = [parse_lines(ref.ref) for ref in refs if ref.kind is EvidenceKind.FILE]
    return any(
        one is not None and one.path == path and one.start <= end and start <= one.end
        for one in quoted
        for path, start, end in right
    )


def reports(data: Path, name: str) -> list[Case]:
    """Return the bug reports of one repository."""
    if not (data / "LocAgent").exists():
        return []
    rows = [json.loads(line)["meta_data"] | json.loads(line) for line in _show(data / "LocAgent", f"HEAD:{REPORTS}")]
    return [
        Case(
            id=row["instance_id"],
            text=row["problem_statement"],
            commit=row["base_commit"],
            files=frozenset(one["file"] for one in row["gt_file_changes"]),
        )
        for row in rows
        if row["repo"].rpartition("/")[2] == name
    ]


def questions(data: Path, name: str) -> list[Case]:
    """Return the questions about one repository whose reference answers name a file."""
    source = data / "SWE-QA-Bench"
    if not source.exists():
        return []
    pinned = (line.split() for line in _show(source, "HEAD:repo_commit.txt") if line.strip())
    commit = next((sha for url, sha in pinned if url.rpartition("/")[2] == name), None)
    if commit is None:
        return []
    clone = data / name
    full = _show(clone, commit, "rev-parse")[0]
    paths = _show(clone, commit, "ls-tree", "-r", "--name-only")
    rows = [json.loads(line) for line in _show(source, f"HEAD:Benchmark/{name}.jsonl") if line.strip()]
    cases = []
    for number, row in enumerate(rows):
        named = list(_named(row["answer"], paths))
        files = frozenset(path for path, _, _ in named)
        if files:
            lines = tuple(one for one in named if one[1])
            cases.append(Case(f"{name}-{number}", row["question"], full, files, lines))
    return cases


def _named(answer: str, paths: Sequence[str]) -> Iterator[Range]:
    """Yield the files an answer names, then the lines it gives behind each name; lines are 0 where it gives none."""
    found = list(_PATH.finditer(answer))
    ends = [*(one.start() for one in found), len(answer)][1:]
    for match, end in zip(found, ends, strict=True):
        ending = "/" + match[0].lstrip("./")
        meant = [path for path in paths if f"/{path}".endswith(ending)]
        if len(meant) == 1:
            yield meant[0], 0, 0
            for lines in _LINES.finditer(answer, match.end() - 1, end):
                first = int(lines[1] or lines[3])
                yield meant[0], first, int(lines[2] or lines[4] or first)


def _show(clone: Path, what: str, command: str = "show", *options: str) -> list[str]:
    """Return the lines that git prints of one object."""
    argv = ["git", "-C", str(clone), command, *options, what]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.splitlines()


def measure(data: Path, kind: str, name: str, cases: Sequence[Case], *, misses: bool) -> list[Result]:
    """Ask all cases of one repository and print its row of the table."""
    cache = data / ".cache"
    cache.mkdir(exist_ok=True)
    results, codebase, commit = [], None, ""
    for case in cases:
        if codebase is None or case.commit != commit:
            codebase, commit = Codebase(data / name, case.commit, cache, only_source=kind == "reports"), case.commit
        results.append(codebase.ask(case))
        if misses and not (results[-1].top and results[-1].draft_cited):
            print(f"    {case.id}: {results[-1]}", file=sys.stderr)
    print(_row(kind, name, results), flush=True)
    return results


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0


def shares(results: Sequence[Result]) -> dict[str, float]:
    """Return the share of the results for which each thing holds."""
    by_name = {field: [getattr(one, field) for one in results] for field in COLUMNS}
    by_name["lines"] = [one for one in by_name["lines"] if one is not None]
    return {field: _share(values) for field, values in by_name.items()}


def _row(kind: str, name: str, results: Sequence[Result]) -> str:
    return f"{kind:11}{name:14}{len(results):>5}" + "".join(f"{part:>12.0%}" for part in shares(results).values())


def cited_files(ret: InvestigatorReturn) -> list[str]:
    """Return the files a draft and its candidates quote, each once, in order."""
    quoted = (one for one in (*ret.evidence_refs, *ret.candidates) if one.kind is EvidenceKind.FILE)
    return list(dict.fromkeys(one.ref.rpartition(":")[0] for one in quoted))


def unanswerable(data: Path, name: str, cases: Sequence[Case]) -> None:
    """Print the row of the questions that nothing in a codebase answers."""
    asked = enumerate(seen_questions(answerable=False))
    nobody = [Case(f"nothing-{at}", text, cases[0].commit, frozenset()) for at, text in asked]
    codebase = Codebase(data / name, cases[0].commit, data / ".cache", only_source=False)
    results = [codebase.ask(case) for case in nobody]
    print(
        f"{'no draft':11}{name:14}{len(results):>5}{_share([not one.has_draft for one in results]):>12.0%}", flush=True
    )


def is_met(kind: str, results: Sequence[Result]) -> bool:
    """Whether all results of a kind together reach its targets."""
    got = shares(results)
    missed = [
        f"{field} {got[field]:.0%} (target {share:.0%})" for field, share in TARGETS[kind].items() if got[field] < share
    ]
    if missed:
        print(f"{kind}: missed {', '.join(missed)}")
    return not missed


def main(argv: Sequence[str] = ()) -> int:
    """Print the table; 0 if the targets are met or there is no data."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bug_reports", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(DATA))
    parser.add_argument("--only", nargs="*", default=[], help="names of repositories")
    parser.add_argument("--kind", choices=sorted(TARGETS), help="only reports, or only questions")
    parser.add_argument("--misses", action="store_true", help="name what was not found, on stderr")
    args = parser.parse_args(argv)
    clones = sorted(one.name for one in args.folder.glob("[!.]*") if one.is_dir()) if args.folder.is_dir() else []
    names = [name for name in clones if not args.only or name in args.only]
    print(f"{'':11}{'':14}{'':>5}" + "".join(f"{field:>12}" for field in COLUMNS))
    is_good = True
    for kind, cases_of in (("reports", reports), ("questions", questions)):
        if args.kind not in (None, kind):
            continue
        by_name = {name: cases for name in names if (cases := cases_of(args.folder, name))}
        results = []
        for name, cases in by_name.items():
            measured = measure(args.folder, kind, name, cases, misses=args.misses)
            results += measured
            if kind == "questions":
                unanswerable(args.folder, name, cases)
        if results:
            print(_row(kind, "all", results))
            is_good = is_met(kind, results) and is_good
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
