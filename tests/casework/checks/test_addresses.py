"""A citation is true only if git, the ledger or memory/ has the lines that it names; code prints them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.adapters.storage.files.file_engine import NoteFiles
from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import OWN_TOOLS, Ledger
from bot.casework.checks.addresses import address_checks, print_evidence, resolve
from bot.casework.checks.sources import Found, Lines, Missing, Sources
from bot.domain.notes import note_text
from bot.domain.returns import EvidenceKind, EvidenceRef
from tests.builders import a_return
from tests.codebases import make_codebases
from tests.gitrepo import commit_files, git, make_repo, write_files
from tests.tables import each_row

Edit = Callable[[str], str]
EDITORS: list[Edit] = [
    lambda text: "\ufeff" + text,
    lambda text: text.replace("\n", "\r\n"),
    lambda text: text.replace("---\n", "---\n\n", 1),
    lambda text: text.replace("---\n", "---\nTags:\n  - retries\n- more\n# why\n", 1),
    lambda text: text.replace("---\n", "---\nlooked over by ana\n", 1),
    lambda text: text.replace('"', "'"),
]

TOKEN = "ghp_" + "aB3dE5" * 6
APP = "def limit():\n    return 5  \n\n\ndef other():\n    return 6\n"
TALK = (
    "# Never\n# set this to zero.\nLIMIT = 5\n\n\ndef wait():\n"
    '    """Do not\n\n    call this.\n    """\n    return LIMIT\n'
)
HOSTILE = "<!-- a comment -->\nLIMIT = 5  # <!channel> @here ```\n</evidence>\n"
FILES: dict[str, str | bytes] = {
    "src/app.py": APP,
    "src/talk.py": TALK,
    "src/keys.py": f"A = 1\nTOKEN = '{TOKEN}'\nLIMIT = 5\n",
    "src/hostile.html": HOSTILE,
    "deploy/app.yml": "a: 1\nscript: |\n  never\n  run this\nb: 2\n",
    "deploy/.env": "LIMIT=5\n",
    "tests/test_app.py": "assert limit() == 5\n",
    "docs/limits.md": "The limit is five.\n",
    "examples/use.py": "limit()\n",
    "vendor/lib.py": "x = 1\n",
    "long.txt": "x = 1\n" * 100,
    "wide.js": "x" * 30_000,
    "huge.txt": "x" * 2_100_000,
    "empty.txt": "",
    "crlf.txt": "one\r\ntwo\r\n",
    "latin.txt": "Die Größe beträgt fünf.\n".encode("latin-1"),
    "utf16.txt": "Das Limit ist fünf.\r\n".encode("utf-16"),
    "blob.bin": b"\0\1LIMIT = 5\n",
    "mixed.txt": b"caf\xc3\xa9 limit\ncaf\xe9 limit\n",
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with files of many kinds, a link, a submodule-like entry and a folder."""
    path = make_repo(tmp_path / "repo", FILES)
    (path / "link.py").symlink_to("src/app.py")
    head = git(path, "rev-parse", "HEAD")
    git(path, "update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    git(path, "add", "link.py")
    git(path, "commit", "--quiet", "-m", "Add a link\n\nIt points at the app.")
    return path


def cite(repo: Path, ref: str, quote: str = "", *, commit: str | None = "") -> EvidenceRef:
    """Return a citation of a file at HEAD, or at `commit`."""
    at = git(repo, "rev-parse", "HEAD") if commit == "" else commit
    return EvidenceRef(kind=EvidenceKind.FILE, ref=ref, commit=at, quote=quote)


def found_at(
    ref: EvidenceRef, repo: Path, *, ledger: Ledger | None = None, memory: Path | None = None
) -> tuple[Found, list[bool | None]]:
    """Return what stands at an address, and what its checks say."""
    found = resolve(ref, Sources(GitRepo(repo), ledger, NoteFiles(memory) if memory else None))
    checks = list(address_checks(0, ref, found))
    assert all(check.reason for check in checks)
    return found, [check.ok for check in checks]


def lines_at(ref: EvidenceRef, repo: Path, **more: object) -> Lines:
    found, _ = found_at(ref, repo, **more)  # type: ignore[arg-type]
    assert isinstance(found, Lines), found
    return found


@each_row(
    "ref, lines",
    [
        ("src/app.py:2", ["    return 5  "]),
        ("src/app.py:1-2", ["def limit():", "    return 5  "]),
        ("src/app.py:6-6", ["    return 6"]),
        ("crlf.txt:1-2", ["one", "two"]),
        ("latin.txt:1", ["Die Größe beträgt fünf."]),
        ("utf16.txt:1", ["Das Limit ist fünf."]),
        ("src/hostile.html:2", ["LIMIT = 5  # <!channel> @here ```"]),
        ("src/hostile.html:1-3", HOSTILE.splitlines()),
    ],
)
def test_whole_lines_are_printed_whatever_they_hold(repo: Path, ref: str, lines: list[str]) -> None:
    """Markup, broadcasts and fences in a file are evidence like any other line."""
    assert list(lines_at(cite(repo, ref), repo).lines) == lines


@each_row(
    "ref",
    [
        *("src/app.py:0-2", "src/app.py:3-2", "src/app.py:5-7", "src/app.py:900", "src/app.py:99999999999999"),
        *("src/app.py", "src/app.py:", "src/app.py:1-", "src/app.py:a-b", "src/app.py:1-2 ", "src/app.py:１-２"),
        *("empty.txt:1", "missing.py:1", "src:1", "src/:1", "sub:1", "link.py:1-2", ".git/config:1", "*:1", ":1"),
        *("/etc/passwd:1", "../repo/src/app.py:1", "src/../src/app.py:1", "./src/app.py:1", "src//app.py:1"),
        *("src\\app.py:1", "src/app.py\0:1", "src/app.py\n:1", "app.py:1", "long.txt:1-41", "deploy/.env:1"),
    ],
)
def test_a_place_that_is_not_there_does_not_resolve(repo: Path, ref: str) -> None:
    """Reversed, zero and overlong ranges, folders, links, submodules, withheld files and paths that lead out."""
    assert found_at(cite(repo, ref), repo)[1] == [False]


@pytest.mark.parametrize("ref", ["src/app.py:1-999999999", "huge.txt:1-999999999", "src/app.py:999999999"])
def test_a_range_of_a_billion_lines_costs_nothing(repo: Path, ref: str) -> None:
    """No number of a citation sizes anything; the same holds for results and for what was read."""
    ledger = Ledger().record_query("grafana__query", "q", "1\n2")
    ledger.record_read("src/app.py", 1, 999_999_999, commit=git(repo, "rev-parse", "HEAD"), text="")
    began = time.process_time()
    assert found_at(cite(repo, ref), repo, ledger=ledger)[0] != Lines
    result = EvidenceRef(kind=EvidenceKind.LOG_QUERY, ref="1:1-999999999")
    assert found_at(result, repo, ledger=ledger)[1] == [False]
    assert time.process_time() - began < 1


@pytest.mark.parametrize("commit", [None, "", "HEAD", "main", "f" * 40, "0" * 40, "HEAD~1", "--all", "deadbee"])
def test_a_commit_that_is_not_one_does_not_resolve(repo: Path, commit: str | None) -> None:
    """Only the id of a commit that exists pins a citation; names move, and nothing at all proves nothing."""
    git(repo, "branch", "deadbee")
    assert found_at(EvidenceRef(kind=EvidenceKind.FILE, ref="src/app.py:1-2", commit=commit), repo)[1] == [False]


def test_a_citation_is_read_at_its_own_commit(repo: Path) -> None:
    """What was true when it was read stays provable after the code moved on."""
    before = git(repo, "rev-parse", "HEAD")
    commit_files(repo, {"src/app.py": "def limit():\n    return 9\n"})
    found = lines_at(cite(repo, "src/app.py:2", commit=before[:10]), repo)
    assert (found.lines, found.commit) == (("    return 5  ",), before)


@each_row("ref", ["blob.bin:1", "mixed.txt:1", "huge.txt:1", "wide.js:1"])
def test_what_is_no_text_or_too_much_is_uncheckable(repo: Path, ref: str) -> None:
    """Code says so instead of guessing at its lines."""
    assert found_at(cite(repo, ref), repo)[1] == [None]


def test_what_a_withheld_file_holds_cannot_be_told(repo: Path) -> None:
    """A right line, a line too many and a file that is not there have one answer, quoted or not."""
    said = {
        resolve(cite(repo, ref, quote), Sources(GitRepo(repo)))
        for ref in ("deploy/.env:1", "deploy/.env:99", "deploy/none/.env:1")
        for quote in ("LIMIT=5", "x", "")
    }
    reasons = {one.why.partition(": ")[2] for one in said if isinstance(one, Missing)}
    assert len(reasons) == 1


@each_row(
    "ref, start, end",
    [
        ("src/talk.py:2", 1, 2),
        ("src/talk.py:2-3", 1, 3),
        ("src/talk.py:9", 7, 10),
        ("src/talk.py:6-7", 6, 10),
        ("src/talk.py:3", 3, 3),
        ("src/talk.py:11", 11, 11),
        ("deploy/app.yml:4", 2, 4),
    ],
)
def test_a_comment_or_string_is_printed_whole(repo: Path, ref: str, start: int, end: int) -> None:
    """Else a citation could leave out the word that turns the sense round."""
    found = lines_at(cite(repo, ref), repo)
    assert (found.start, found.start + len(found.lines) - 1) == (start, end)


@each_row(
    "ref, place",
    [
        ("src/app.py:1-2", "program"),
        ("src/talk.py:1-2", "comment"),
        ("src/talk.py:8-9", "comment"),
        ("src/talk.py:1-3", "program"),
        ("deploy/app.yml:1", "program"),
        ("tests/test_app.py:1", "test"),
        ("docs/limits.md:1", "docs"),
        ("examples/use.py:1", "example"),
        ("vendor/lib.py:1", "vendored"),
    ],
)
def test_each_place_has_its_kind(repo: Path, ref: str, place: str) -> None:
    """A comment says what somebody meant, not what the program does."""
    assert lines_at(cite(repo, ref), repo).place == place


def test_lines_were_read_only_if_the_run_opened_all_of_them_at_that_commit(repo: Path) -> None:
    """One line more, or another commit, was not."""
    head = git(repo, "rev-parse", "HEAD")
    ledger = Ledger().record_read("src/app.py", 1, 2, commit=head, text="…")
    assert lines_at(cite(repo, "src/app.py:1-2"), repo, ledger=ledger).was_read
    assert not lines_at(cite(repo, "src/app.py:1-3"), repo, ledger=ledger).was_read
    assert not lines_at(cite(repo, "src/app.py:1-2"), repo).was_read
    commit_files(repo, {"new.py": "x\n"})
    assert not lines_at(cite(repo, "src/app.py:1-2"), repo, ledger=ledger).was_read


@each_row(
    "ref, quote",
    [
        ("src/app.py:1-6", "return 5"),
        ("src/app.py:1-2", "def limit():\n    return 5"),
        ("src/app.py:1-2", "\ndef limit():   \n    return 5\n"),
        ("crlf.txt:1-2", "one\r\ntwo"),
        ("src/keys.py:2", f"TOKEN = '{TOKEN}'"),
        ("src/keys.py:2", "TOKEN = '[redacted: GitHub token]'"),
    ],
)
def test_a_contiguous_part_of_the_lines_holds(repo: Path, ref: str, quote: str) -> None:
    """Blanks at line ends aside; as it stands there, or redacted."""
    assert found_at(cite(repo, ref, quote), repo)[1] == [True, True]


def test_a_commit_has_its_message_author_date_and_patch(repo: Path) -> None:
    """The patch leaves out withheld files."""
    sha = commit_files(repo, {"src/app.py": "def limit():\n    return 9\n", "deploy/.env": "X=41\n"}, "Raise it")
    found = lines_at(EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref=sha[:10]), repo)
    assert (found.lines, found.commit, found.about) == (("Raise it",), sha, "Test, 2026-01-05")
    assert {f"commit {sha}", "Test, 2026-01-05", "src/app.py", "+    return 9"} <= set(found.extra)
    assert [line for line in found.extra if "X=41" in line] == []


def test_a_file_that_became_a_folder_hides_what_is_withheld_in_it(repo: Path) -> None:
    """Git would show all that lies below a path it is asked for."""
    commit_files(repo, {"conf": "a\n"})
    (repo / "conf").unlink()
    sha = commit_files(repo, {"conf/.env": "PASS=41\n", "b.py": "b\n"})
    found = lines_at(EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref=sha), repo)
    assert [line for line in found.extra if "PASS=41" in line] == []
    assert "+b" in found.extra


def test_what_is_no_commit_of_head_does_not_resolve(repo: Path) -> None:
    """Nor does a name, nor an id that contradicts the commit beside it."""
    head, first = git(repo, "rev-parse", "HEAD"), git(repo, "rev-parse", "HEAD~1")
    for ref, commit in (("e" * 40, None), ("HEAD", None), ("main", None), (head, first)):
        cited = EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref=ref, commit=commit)
        assert found_at(cited, repo)[1] == [False]


def a_ledger() -> Ledger:
    """Return a search and a query with their results."""
    ledger = Ledger().record_query("search_code", "limit", "src/app.py\n2| return 5")
    result = f"status: ok\n42 errors in checkout\ntoken: {TOKEN}\n"
    return ledger.record_query("grafana__query", "sum(errors)", result)


def log(ref: str, quote: str = "") -> EvidenceRef:
    return EvidenceRef(kind=EvidenceKind.LOG_QUERY, ref=ref, quote=quote)


def test_the_lines_of_a_call_are_printed(repo: Path) -> None:
    """By the call's number; they were read, since they were shown."""
    found = lines_at(log("2:1-2"), repo, ledger=a_ledger())
    assert (found.lines, found.tool) == (("status: ok", "42 errors in checkout"), "grafana__query")
    assert found.was_read
    assert "ghp_" not in "".join(lines_at(log("2:3"), repo, ledger=a_ledger()).shown)
    assert lines_at(log("1:2"), repo, ledger=a_ledger()).lines == ("2| return 5",)


@each_row("ref", ["0:1", "3:1", "2:0", "2:4", "2:3-2", "2:1-999999999", "2", "2:", "sum(x)", "", "999999:1"])
def test_a_call_or_a_line_that_is_not_there_does_not_resolve(repo: Path, ref: str) -> None:
    """Nor does a query that nobody asked."""
    assert found_at(log(ref), repo, ledger=a_ledger())[1] == [False]
    assert found_at(log(ref), repo)[1] == [False]


def test_a_call_that_failed_or_read_a_file_has_no_lines(repo: Path) -> None:
    """A file is cited by its path."""
    ledger = Ledger().record_query("grafana__query", "x", "error", is_answered=False)
    ledger.record_query("read_file", "{}")
    assert [found_at(log(ref), repo, ledger=ledger)[1] for ref in ("1:1", "2:1")] == [[False], [False]]


@each_row(
    "quote, oks",
    [("42 errors in checkout", [True, True]), ("43 errors in checkout", [False]), ("", [None])],
)
def test_the_query_itself_is_still_read_as_an_address(repo: Path, quote: str, oks: list[bool | None]) -> None:
    """Drafts of earlier releases cite so; the quote says which lines."""
    assert found_at(log("sum(errors)", quote), repo, ledger=a_ledger())[1] == oks


def test_of_a_ledger_without_results_nothing_can_be_told(repo: Path) -> None:
    """As older ones are."""
    old = Ledger.model_validate({"queries": [{"tool": "grafana", "query": "sum(errors)"}]})
    assert found_at(log("sum(errors)", "42 errors"), repo, ledger=old)[1] == [None]


@each_row("tool", sorted(OWN_TOOLS))
def test_what_our_own_tools_were_asked_is_no_query(repo: Path, tool: str) -> None:
    """Whoever searches the code for a text could cite the search as a log query."""
    ledger = Ledger().record_query(tool, "sum(errors)", "42 errors in checkout")
    assert found_at(log("sum(errors)", "42 errors in checkout"), repo, ledger=ledger)[1] == [False]


def note(ref: str, quote: str = "") -> EvidenceRef:
    return EvidenceRef(kind=EvidenceKind.MEMORY, ref=ref, quote=quote)


def test_lines_of_a_note_are_printed(repo: Path, tmp_path: Path) -> None:
    """With or without the folder's name; by the quote alone where an earlier draft says no more."""
    memory = tmp_path / "memory"
    write_files(memory, {"limits.md": "# Limits\nThe limit is five.\n"})
    for ref in (note("memory/limits.md:2"), note("limits.md:2-2"), note("limits.md", "is five")):
        found = lines_at(ref, repo, memory=memory)
        assert (found.lines, found.start, found.path) == (("The limit is five.",), 2, "memory/limits.md")
    assert found_at(note("limits.md"), repo, memory=memory)[1] == [None]
    assert found_at(note("limits.md", "The limit is six."), repo, memory=memory)[1] == [False]
    assert found_at(note("limits.md:2", "The limit is six."), repo, memory=memory)[1] == [True, False]


def test_a_note_that_is_not_in_memory_does_not_resolve(repo: Path, tmp_path: Path) -> None:
    """Nor a link out of it, nor a path that leads out, nor lines that it does not have."""
    memory = tmp_path / "memory"
    write_files(memory, {"limits.md": "five\n", "retired/old.md": "five\n"})
    write_files(tmp_path, {"outside.md": "five\n"})
    (memory / "link.md").symlink_to(tmp_path / "outside.md")
    (memory / "loop.md").symlink_to("loop.md")
    nowhere = ("none.md", "../outside.md", "link.md", "loop.md", "a\0.md", f"{'a' * 300}.md", "a/" * 3_000)
    for name in (*nowhere, "retired/old.md"):
        for ref in (note(f"memory/{name}:1"), note(f"memory/{name}", "five")):
            assert found_at(ref, repo, memory=memory)[1] == [False]
    for lines in ("0", "2", "1-999999999", "2-1"):
        assert found_at(note(f"limits.md:{lines}"), repo, memory=memory)[1] == [False]


@each_row("edit", EDITORS)
def test_what_stands_above_the_words_is_no_evidence(repo: Path, tmp_path: Path, edit: Edit) -> None:
    """Whatever an editor made of it; a lesson of an earlier release is a note."""
    lesson = note_text("# Dismissed: limit\n\nThe limit is five.", {"kind": "dismissal", "saved_by": "U1"})
    write_files(tmp_path / "memory", {"lesson.md": ""})
    (tmp_path / "memory" / "lesson.md").write_bytes(edit(lesson).encode())
    memory = tmp_path / "memory"
    found, oks = found_at(note("lesson.md", "The limit is five."), repo, memory=memory)
    assert isinstance(found, Lines)
    assert oks == [True, True]
    assert found_at(note(f"lesson.md:{found.start}"), repo, memory=memory)[1] == [True]
    assert found_at(note("lesson.md:2"), repo, memory=memory)[1] == [False]
    assert found_at(note("lesson.md", "saved_by"), repo, memory=memory)[1] == [False]


def test_a_note_whose_own_lines_changed_says_so(repo: Path, tmp_path: Path) -> None:
    """Its words are printed all the same."""
    head = git(repo, "rev-parse", "HEAD")
    cites = f'cites: [{{"path": "src/app.py", "lines": "2", "commit": "{head}", "quote": "return 5"}}]'
    write_files(tmp_path / "memory", {"note.md": f'---\nkind: "note"\n{cites}\n---\n\nThe limit is five.\n'})
    ref = note("note.md:6")
    assert found_at(ref, repo, memory=tmp_path / "memory")[1] == [True]
    commit_files(repo, {"src/app.py": "def limit():\n    return 7\n"}, "second")
    found, oks = found_at(ref, repo, memory=tmp_path / "memory")
    assert oks == [None]
    assert isinstance(found, Lines)
    assert f"changed since {head[:7]} (src/app.py:2)" in found.caution
    assert found.lines == ("The limit is five.",)


def test_an_earlier_reply_cannot_be_looked_up(repo: Path, tmp_path: Path) -> None:
    """That a search brought it up can be shown; what it says cannot."""
    ref = note("reply/T1.C1.1.2", "five")
    for ledger in (Ledger(), Ledger().record_shown("search_memory", ref.ref)):
        assert found_at(ref, repo, ledger=ledger, memory=tmp_path)[1] == [None]


@each_row("kind", [EvidenceKind.MEMORY, EvidenceKind.TRIAGE_FILE, EvidenceKind.EXTERNAL_DOC])
def test_what_code_cannot_look_up_is_neither_true_nor_false(repo: Path, kind: EvidenceKind) -> None:
    """Without memory/ a note is uncheckable, as a page on the web always is."""
    assert found_at(EvidenceRef(kind=kind, ref="https://x.io/docs", quote="five"), repo)[1] == [None]


@each_row(
    "ref, line",
    [
        ("shop:src/both.py:1", "LIMIT = 5"),
        ("src/both.py:1", "LIMIT = 5"),
        ("infra:src/both.py:1", None),
        ("infra:src/cart.py:1", None),
        ("payroll:src/both.py:1", None),
        ("shop:../infra/src/both.py:1", None),
        ("shop:/etc/passwd:1", None),
    ],
)
def test_a_citation_is_read_in_its_codebase(tmp_path: Path, ref: str, line: str | None) -> None:
    """At a commit of the shop, which infra does not have; without a name the commit says where."""
    code = make_codebases(tmp_path)
    at = git(tmp_path / "shop", "rev-parse", "HEAD")
    found = resolve(EvidenceRef(kind=EvidenceKind.FILE, ref=ref, commit=at), Sources(code))
    assert (found.lines[0] if isinstance(found, Lines) else None) == line


def test_a_withheld_file_at_the_top_of_a_codebase_exists_for_nobody(tmp_path: Path) -> None:
    """What stands before the path in a citation does not hide the file's name; kinds of places are told alike."""
    files = {".env": "LIMIT=5\n", "auth.json": "{}\n", "tests/a.py": "x\n", "a.py": "x\n"}
    code = make_codebases(tmp_path, shop=files, infra=files)
    at = git(tmp_path / "shop", "rev-parse", "HEAD")

    def at_shop(path: str) -> Found:
        ref = EvidenceRef(kind=EvidenceKind.FILE, ref=f"shop:{path}:1", commit=at)
        ledger = Ledger().record_read("shop:a.py", 1, 1, commit=at, text="x")
        return resolve(ref, Sources(code, ledger))

    assert [isinstance(at_shop(path), Missing) for path in (".env", "auth.json", "a.py")] == [True, True, False]
    program, test = at_shop("a.py"), at_shop("tests/a.py")
    assert isinstance(program, Lines)
    assert isinstance(test, Lines)
    assert (program.place, program.was_read, test.place, test.was_read) == ("program", True, "test", False)


def test_a_commit_is_found_in_whichever_has_it(tmp_path: Path) -> None:
    """And in none that has it not."""
    code = make_codebases(tmp_path)
    at = commit_files(tmp_path / "infra", {"a.py": "A = 1\n"}, "Add a limit for workers")
    cited = EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref=at)
    assert isinstance(resolve(cited, Sources(code)), Lines)
    assert isinstance(resolve(cited, Sources(code.among(["shop"]))), Missing)


def test_addresses_are_printed_with_their_commit(repo: Path) -> None:
    """Whole lines, redacted; a part that arrived becomes the whole."""
    head = git(repo, "rev-parse", "HEAD")
    refs = (
        cite(repo, "src/keys.py:2-3", commit=None),
        cite(repo, "src/app.py:1-2", "return 5", commit=head[:8]),
        EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref=head[:8]),
    )
    printed = print_evidence(a_return(evidence_refs=refs), Sources(GitRepo(repo))).evidence_refs
    assert [ref.commit for ref in printed] == [head, head, head]
    assert [ref.quote for ref in printed] == [
        "TOKEN = '[redacted: GitHub token]'\nLIMIT = 5",
        "def limit():\n    return 5  ",
        "Add a link\n\nIt points at the app.",
    ]
    again = [found_at(ref, repo)[1] for ref in printed]
    assert again == [[True, True]] * 3


def test_lines_are_pinned_where_the_run_read_them(repo: Path) -> None:
    """The code may move on meanwhile; what nobody read is pinned where the run began."""
    began = git(repo, "rev-parse", "HEAD")
    commit_files(repo, {"src/app.py": "def limit():\n    return 9\n"})
    ledger = Ledger().record_read("src/app.py", 1, 2, commit=began, text="…")
    unread = cite(repo, "src/talk.py:3", commit=None)
    sources = Sources(GitRepo(repo), ledger, heads={GitRepo(repo).root: began})
    ret = a_return(evidence_refs=(cite(repo, "src/app.py:2", commit=None), unread))
    first, second = print_evidence(ret, sources).evidence_refs
    assert (first.commit, first.quote, second.commit) == (began, "    return 5  ", began)


def test_only_commits_of_the_history_of_head_count(repo: Path) -> None:
    """A branch and a commit that was amended away do not."""
    head = git(repo, "rev-parse", "HEAD")
    dangling = commit_files(repo, {"src/app.py": "def limit():\n    return 9\n"})
    git(repo, "reset", "--quiet", "--hard", head)
    git(repo, "checkout", "--quiet", "-b", "side")
    branch = commit_files(repo, {"src/app.py": "def limit():\n    return 8\n"})
    git(repo, "checkout", "--quiet", "main")
    for commit in (dangling, branch):
        assert found_at(cite(repo, "src/app.py:2", commit=commit), repo)[1] == [False]


def test_the_work_tree_is_no_evidence(repo: Path) -> None:
    """An edit that is not committed neither proves nor disproves a citation."""
    write_files(repo, {"src/app.py": "def limit():\n    return 7\n", "new.py": "x = 1\n"})
    assert lines_at(cite(repo, "src/app.py:2"), repo).lines == ("    return 5  ",)
    assert found_at(cite(repo, "new.py:1"), repo)[1] == [False]


def test_secrets_are_printed_redacted(repo: Path) -> None:
    """The lines themselves are there for the checks; whoever reads them sees no token."""
    found = lines_at(cite(repo, "src/keys.py:1-3"), repo)
    assert found.lines[1] == f"TOKEN = '{TOKEN}'"
    assert found.shown == ("A = 1", "TOKEN = '[redacted: GitHub token]'", "LIMIT = 5")
