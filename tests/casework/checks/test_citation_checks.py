"""A citation is true only if git, the ledger or memory/ says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.adapters.storage.files.file_engine import NoteFiles
from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import OWN_TOOLS, Ledger
from bot.casework.checks.citation_checks import CitationSources, check_citation
from bot.domain.notes import note_text
from bot.domain.returns import EvidenceKind, EvidenceRef
from tests.codebases import make_codebases
from tests.gitrepo import commit_files, git, make_repo, write_files
from tests.tables import each_row

Edit = Callable[[str], str]
EDITORS: list[Edit] = [
    lambda text: "\ufeff" + text,
    lambda text: text.replace("\n", "\r\n"),
    lambda text: "\n" + text,
    lambda text: text.replace("---\n", "---\n\n", 1),
    lambda text: text.replace("---\n", "---  \n"),
    lambda text: text.replace("---\n", "---\nTags:\n  - retries\n- more\n# why\n", 1),
    lambda text: text.replace("---\n", "---\nlooked over by ana\n", 1),
    lambda text: text.replace('"', ""),
    lambda text: text.replace('"', "'"),
]

APP = "def limit():\n    return 5  \n\n\ndef other():\n    return 6\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with a file, a link, a submodule-like entry and a folder."""
    path = make_repo(tmp_path / "repo", {"src/app.py": APP, "empty.txt": "", "crlf.txt": "one\r\ntwo\r\n"})
    (path / "link.py").symlink_to("src/app.py")
    head = git(path, "rev-parse", "HEAD")
    git(path, "update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    git(path, "add", "link.py")
    git(path, "commit", "--quiet", "-m", "Add a link\n\nIt points at the app.")
    return path


def cite(repo: Path, ref: str, quote: str = "return 5", *, commit: str | None = "") -> EvidenceRef:
    """Return a file citation at HEAD, or at `commit`."""
    at = git(repo, "rev-parse", "HEAD") if commit == "" else commit
    return EvidenceRef(kind=EvidenceKind.FILE, ref=ref, commit=at, quote=quote)


def oks(
    ref: EvidenceRef, repo: Path, *, ledger: Ledger | None = None, memory: Path | None = None
) -> tuple[object, object]:
    """Return what came of looking a citation up, and of comparing its quote."""
    proof = check_citation(
        ref, CitationSources(repo=GitRepo(repo), ledger=ledger, notes=NoteFiles(memory) if memory else None)
    )
    assert proof.resolves.reason
    return proof.resolves.ok, proof.quote.ok if proof.quote else "no quote"


@each_row(
    "ref, quote",
    [
        ("src/app.py:1-6", "return 5"),
        ("src/app.py:2", "    return 5"),
        ("src/app.py:1-2", "def limit():\n    return 5"),
        ("src/app.py:2-5", "return 5\n\n\ndef other"),
        ("src/app.py:1-2", "\ndef limit():   \n    return 5\n"),
        ("crlf.txt:1-2", "one\ntwo"),
        ("crlf.txt:1-2", "one\r\ntwo"),
    ],
)
def test_a_verbatim_quote_of_lines_that_exist_holds(repo: Path, ref: str, quote: str) -> None:
    """A quote may start and end anywhere in the cited lines; white space at line ends does not count."""
    assert oks(cite(repo, ref, quote), repo) == (True, True)


@each_row(
    "quote",
    [
        "return 6",
        "return  5",
        "Return 5",
        "def limit():\nreturn 5",
        "def limit(): return 5",
        "return 5\n\ndef other",
        "",
        "()",
    ],
)
def test_a_quote_that_is_not_verbatim_fails(repo: Path, quote: str) -> None:
    """Other spacing, other case, skipped lines, lines next to the cited ones, nothing: none of it is a quote."""
    assert oks(cite(repo, "src/app.py:1-5", quote), repo) == (True, False)


@each_row(
    "ref",
    [
        *("src/app.py:0-2", "src/app.py:3-2", "src/app.py:5-7", "src/app.py:900", "src/app.py:99999999999999"),
        *("src/app.py", "src/app.py:", "src/app.py:1-", "src/app.py:a-b", "src/app.py:1-2 ", "src/app.py:１-２"),
        *("empty.txt:1", "missing.py:1", "src:1", "src/:1", "sub:1", "link.py:1-2", ".git/config:1", "*:1", ":1"),
        *("/etc/passwd:1", "../repo/src/app.py:1", "src/../src/app.py:1", "./src/app.py:1", "src//app.py:1"),
        *("src\\app.py:1", "src/app.py\0:1", "src/app.py\n:1"),
    ],
)
def test_a_place_that_is_not_there_fails(repo: Path, ref: str) -> None:
    """Reversed, zero and overlong ranges, folders, links, submodules and paths that lead out are no places."""
    assert oks(cite(repo, ref), repo) == (False, None)


@pytest.mark.parametrize("commit", [None, "", "HEAD", "main", "f" * 40, "0" * 40, "HEAD~1", "--all", "deadbee"])
def test_a_commit_that_is_not_one_fails(repo: Path, commit: str | None) -> None:
    """Only the id of a commit that exists pins a citation; names move, and nothing at all proves nothing."""
    git(repo, "branch", "deadbee")
    ref = EvidenceRef(kind=EvidenceKind.FILE, ref="src/app.py:1-2", commit=commit, quote="return 5")
    assert oks(ref, repo)[0] is False


def test_the_work_tree_is_no_evidence(repo: Path) -> None:
    """An edit that is not committed can neither prove nor disprove a citation."""
    write_files(repo, {"src/app.py": "def limit():\n    return 7\n", "new.py": "x = 1\n"})
    assert oks(cite(repo, "src/app.py:1-2"), repo) == (True, True)
    assert oks(cite(repo, "src/app.py:1-2", "return 7"), repo) == (True, False)
    assert oks(cite(repo, "new.py:1", "x = 1"), repo) == (False, None)


def test_a_citation_is_checked_at_its_own_commit(repo: Path) -> None:
    """What was true when it was read stays provable after the code moved on."""
    before = git(repo, "rev-parse", "HEAD")
    commit_files(repo, {"src/app.py": "def limit():\n    return 9\n"})
    assert oks(cite(repo, "src/app.py:2", commit=before), repo) == (True, True)
    assert oks(cite(repo, "src/app.py:2"), repo) == (True, False)


def test_a_commit_is_cited_by_its_id_and_quoted_from_its_message(repo: Path) -> None:
    """The subject and the body count; another commit in the `commit` field does not."""
    head, first = git(repo, "rev-parse", "HEAD"), git(repo, "rev-parse", "HEAD~1")
    kind = EvidenceKind.GIT_COMMIT
    assert oks(EvidenceRef(kind=kind, ref=head, quote="It points at the app."), repo) == (True, True)
    assert oks(EvidenceRef(kind=kind, ref=head[:10], commit=head), repo) == (True, None)
    assert oks(EvidenceRef(kind=kind, ref=head, quote="It points elsewhere."), repo) == (True, False)
    assert oks(EvidenceRef(kind=kind, ref=head, commit=first), repo) == (False, None)
    assert oks(EvidenceRef(kind=kind, ref="e" * 40), repo) == (False, None)
    assert oks(EvidenceRef(kind=kind, ref="HEAD"), repo) == (False, None)


def test_a_query_counts_only_if_it_was_made(repo: Path) -> None:
    """The ledger knows the query; what an older ledger does not hold of its result cannot be compared."""
    ref = EvidenceRef(kind=EvidenceKind.LOG_QUERY, ref="sum(errors)", quote="42 errors")
    assert oks(ref, repo, ledger=Ledger().record_query("grafana", "sum(errors)")) == (True, None)
    assert oks(ref, repo, ledger=Ledger()) == (False, None)
    assert oks(ref, repo) == (False, None)


@each_row(
    "quote, ok",
    [("42 errors in checkout", True), ("errors in check", False), ("43 errors in checkout", False), ("", None)],
)
def test_a_quote_of_a_query_is_compared_with_what_the_server_answered(repo: Path, quote: str, ok: bool | None) -> None:
    """The result is in the ledger as it was shown."""
    ledger = Ledger().record_query("grafana__query", "sum(errors)", "status: ok\n42 errors in checkout\n")
    ref = EvidenceRef(kind=EvidenceKind.LOG_QUERY, ref="sum(errors)", quote=quote)
    assert oks(ref, repo, ledger=ledger) == (True, ok)


@each_row("tool", sorted(OWN_TOOLS))
def test_what_our_own_tools_were_asked_is_no_query(repo: Path, tool: str) -> None:
    """Whoever searches the code for a text could cite the search as a log query."""
    ref = EvidenceRef(kind=EvidenceKind.LOG_QUERY, ref="sum(errors)", quote="42 errors in checkout")
    ledger = Ledger().record_query(tool, "sum(errors)", "42 errors in checkout")
    assert oks(ref, repo, ledger=ledger) == (False, None)


def test_a_note_is_read_from_memory_and_nowhere_else(repo: Path, tmp_path: Path) -> None:
    """A note must lie under memory/ and hold the quote; a link out of the folder is no note."""
    memory = tmp_path / "memory"
    write_files(memory, {"limits.md": "# Limits\nThe limit is five.\n"})
    write_files(tmp_path, {"outside.md": "The limit is five.\n"})
    (memory / "link.md").symlink_to(tmp_path / "outside.md")
    quote = "The limit is five."

    def note(ref: str, quote: str = quote) -> EvidenceRef:
        return EvidenceRef(kind=EvidenceKind.MEMORY, ref=ref, quote=quote)

    assert oks(note("memory/limits.md"), repo, memory=memory) == (True, True)
    assert oks(note("limits.md"), repo, memory=memory) == (True, True)
    assert oks(note("memory/limits.md", "The limit is six."), repo, memory=memory) == (True, False)
    nowhere = ("memory/none.md", "../outside.md", "memory/link.md", "memory/", str(tmp_path / "outside.md"), "a\0.md")
    (memory / "loop.md").symlink_to("loop.md")
    for ref in (*nowhere, "memory/loop.md", f"memory/{'a' * 300}.md", "memory/" + "a/" * 3_000):
        assert oks(note(ref), repo, memory=memory) == (False, None)


@each_row("kind", [EvidenceKind.MEMORY, EvidenceKind.TRIAGE_FILE, EvidenceKind.EXTERNAL_DOC])
def test_what_code_cannot_look_up_is_neither_true_nor_false(repo: Path, kind: EvidenceKind) -> None:
    """Without memory/ a note is uncheckable, as a page on the web always is."""
    assert oks(EvidenceRef(kind=kind, ref="https://x.io/docs", quote="five"), repo) == (None, None)


def test_an_earlier_reply_is_known_only_from_the_ledger(repo: Path, tmp_path: Path) -> None:
    """That a search brought it up can be shown; what it says cannot."""
    ref = EvidenceRef(kind=EvidenceKind.MEMORY, ref="reply/T1.C1.1.2", quote="five")
    assert oks(ref, repo, ledger=Ledger().record_query("search_memory", ref.ref), memory=tmp_path) == (True, None)
    assert oks(ref, repo, ledger=Ledger(), memory=tmp_path) == (None, None)


def test_what_a_search_of_memory_brought_up_is_no_query(repo: Path) -> None:
    """A note or a reply cited as a log query would prove itself by having come up."""
    ledger = (
        Ledger().record_query("search_memory", "memory/dismissed-x.md").record_query("search_memory", "reply/T.C.1")
    )
    for name in ("memory/dismissed-x.md", "reply/T.C.1"):
        for quote in ("", "The limit is five."):
            ref = EvidenceRef(kind=EvidenceKind.LOG_QUERY, ref=name, quote=quote)
            assert check_citation(ref, CitationSources(repo=GitRepo(repo), ledger=ledger)).ok is False


@each_row("edit", EDITORS)
def test_a_lesson_of_an_earlier_release_is_a_note(repo: Path, tmp_path: Path, edit: Edit) -> None:
    """Whatever the editor made of what stands above the words; nor are those lines words of the note."""
    lesson = note_text("# Dismissed: limit\n\nThe limit is five.", {"kind": "dismissal", "saved_by": "U1"})
    write_files(tmp_path / "memory", {"lesson.md": ""})
    (tmp_path / "memory" / "lesson.md").write_bytes(edit(lesson).encode())
    ref = EvidenceRef(kind=EvidenceKind.MEMORY, ref="memory/lesson.md", quote="The limit is five.")
    proof = check_citation(ref, CitationSources(repo=GitRepo(repo), notes=NoteFiles(tmp_path / "memory")))
    assert (proof.ok, proof.quote and proof.quote.ok) == (True, True)
    above = ref.model_copy(update={"quote": "saved_by"})
    assert check_citation(above, CitationSources(repo=GitRepo(repo), notes=NoteFiles(tmp_path / "memory"))).ok is False


def test_a_file_of_many_bytes_is_read_once_and_cut_at_line_feeds_only(tmp_path: Path) -> None:
    """Form feeds and other odd separators do not start a line, so numbers mean what editors show."""
    repo = make_repo(tmp_path / "odd", {"a.txt": "one\x0ctwo\u2028three\nfour\n", "b.bin": b"\xff\nplain text\n"})
    assert oks(cite(repo, "a.txt:2", "four"), repo) == (True, True)
    assert oks(cite(repo, "a.txt:3", "four"), repo) == (False, None)
    assert oks(cite(repo, "b.bin:2", "plain text"), repo) == (True, True)


def test_a_note_whose_lines_changed_proves_nothing(repo: Path, tmp_path: Path) -> None:
    """Code says why; a wrong quote is wrong all the same, and what was retired is gone."""
    head = git(repo, "rev-parse", "HEAD")
    cites = f'cites: [{{"path": "src/app.py", "lines": "2", "commit": "{head}", "quote": "return 5"}}]'
    memory = tmp_path / "memory"
    files = {
        "note.md": f'---\nkind: "note"\n{cites}\n---\n\nThe limit is five.\n',
        "retired/old.md": "The limit is five.\n",
    }
    write_files(memory, files)

    def looked_up(name: str, quote: str = "The limit is five.") -> tuple[object, object]:
        return oks(EvidenceRef(kind=EvidenceKind.MEMORY, ref=f"memory/{name}", quote=quote), repo, memory=memory)

    assert looked_up("note.md") == (True, True)
    assert looked_up("retired/old.md") == (False, None)
    commit_files(repo, {"src/app.py": "def limit():\n    return 7\n"}, "second")
    ref = EvidenceRef(kind=EvidenceKind.MEMORY, ref="memory/note.md", quote="The limit is five.")
    proof = check_citation(ref, CitationSources(repo=GitRepo(repo), notes=NoteFiles(memory)))
    assert (proof.ok, proof.resolves.ok) == (None, None)
    assert f"changed since {head[:7]} (src/app.py:2)" in proof.resolves.reason


def test_the_beginning_of_a_long_line_of_a_note_may_be_quoted(repo: Path, tmp_path: Path) -> None:
    """A search shows 300 characters of a paragraph on one line; less than that is quoted whole."""
    line = "The limit is five attempts and no more. " * 12
    write_files(tmp_path / "memory", {"long.md": f"{line}\n"})
    for quote, ok in ((line[:239], True), (line[:245], False), (line[:100], False), (line[20:260], False)):
        ref = EvidenceRef(kind=EvidenceKind.MEMORY, ref="memory/long.md", quote=quote)
        assert oks(ref, repo, memory=tmp_path / "memory") == (True, ok)


class TestSeveralCodebases:
    """A citation says which codebase it is from, and is proved there."""

    @pytest.mark.parametrize(
        ("ref", "quote", "ok"),
        [
            ("shop:src/both.py:1", "LIMIT = 5", True),
            ("infra:src/both.py:1", "LIMIT = 5", False),
            ("infra:src/cart.py:1", "LIMIT = 5", False),
            ("payroll:src/both.py:1", "LIMIT = 5", False),
            ("shop:../infra/src/both.py:1", "LIMIT = 7", False),
            ("shop:/etc/passwd:1", "root", False),
            ("src/both.py:1", "LIMIT = 5", True),
        ],
    )
    def test_a_citation_is_proved_in_its_codebase(self, tmp_path: Path, ref: str, quote: str, ok: bool) -> None:
        """At a commit of the shop, which infra does not have; without a name the commit says where."""
        code = make_codebases(tmp_path)
        at = git(tmp_path / "shop", "rev-parse", "HEAD")
        cited = EvidenceRef(kind=EvidenceKind.FILE, ref=ref, commit=at, quote=quote)
        assert check_citation(cited, CitationSources(repo=code)).ok is ok

    def test_a_commit_is_found_in_whichever_has_it(self, tmp_path: Path) -> None:
        """And in none that has it not."""
        code = make_codebases(tmp_path)
        at = commit_files(tmp_path / "infra", {"a.py": "A = 1\n"}, "Add a limit for workers")
        cited = EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref=at, quote="Add a limit for workers")
        assert check_citation(cited, CitationSources(repo=code)).ok is True
        assert check_citation(cited, CitationSources(repo=code.among(["shop"]))).ok is False
