"""The passage index: what it finds, what it never reads, and what it survives."""

import hashlib
import sqlite3
import threading
from pathlib import Path

import pytest

from bot.adapters.search.passage_index import AGAIN_S, SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.domain.search.passages import IndexGaps
from bot.errors import ConfigError, StoreError
from tests.gitrepo import commit_files, git, make_repo
from tests.samples import RETRY
from tests.tables import each_row

INVOICE = '''class InvoicePrinter:
    """Turns an invoice into a PDF."""

    def printInvoice(self, invoice):
        return render("invoice.html", total=invoice.total)
'''
FILES = {
    "src/transport.py": RETRY,
    "src/billing.py": INVOICE,
    "tests/test_transport.py": "def test_send_with_retry_gives_up():\n    assert send_with_retry(request) is None\n",
    "docs/guide.md": "# Guide\n\nHow to deploy the service to a cluster.\n",
}
QUESTION = "how often do we retry when the server is busy?"
HOSTILE = (
    "",
    "   \n\t",
    "😀🎉",
    ":tada: <@U123> <!here>",
    '"retry',
    "retry' OR 1=1; DROP TABLE file; --",
    "retry NEAR(server, 5) AND NOT busy*",
    "names: retry ^server {path body}: x + y",
    "(((((",
    "\ud83d retry \x00 server",
    "なぜ再試行するの？",
    "what " * 8_000,
    "word" * 10_000,
    " ".join(f"retry_{number}" for number in range(4_000)),
)


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A repository of four files."""
    return make_repo(tmp_path / "code", FILES)


def index_of(code: Path, database: str = "index/passages.sqlite") -> SqlitePassageIndex:
    """Return an index over a repository, its database beside it."""
    return SqlitePassageIndex(GitRepo(code), code.parent / database)


def found(index: SqlitePassageIndex, question: str) -> list[str]:
    """Return the paths found for a question."""
    return [passage.path for passage in index.search(question)]


def test_the_source_comes_before_its_test(code: Path) -> None:
    """Both hold the words; a question is about the code unless it says otherwise."""
    assert found(index_of(code), QUESTION)[0] == "src/transport.py"


def test_a_question_about_tests_finds_the_test_first(code: Path) -> None:
    """What a question names by kind counts in full."""
    assert found(index_of(code), "which test covers send_with_retry?")[0] == "tests/test_transport.py"


def test_the_words_of_a_camel_case_name_find_it(code: Path) -> None:
    """Identifiers are split, so that nobody needs to know how a name is written."""
    assert found(index_of(code), "what does the invoice printer do")[0] == "src/billing.py"
    assert found(index_of(code), "who calls printInvoice")[0] == "src/billing.py"


def test_a_passage_is_its_lines_verbatim_at_the_commit(code: Path) -> None:
    """Path, range and commit lead to exactly the text that was found."""
    repo = GitRepo(code)
    for passage in index_of(code).search(QUESTION):
        lines = repo.lines_at(passage.commit, passage.path)
        assert lines is not None
        assert "\n".join(lines[passage.start - 1 : passage.end]) == passage.text


def test_no_more_passages_than_asked_for_best_first(tmp_path: Path) -> None:
    """The limit holds and scores never rise."""
    code = make_repo(tmp_path / "code", {f"src/m{number}.py": RETRY for number in range(20)})
    passages = index_of(code).search(QUESTION, limit=5)
    assert len(passages) == 5
    assert [one.score for one in passages] == sorted((one.score for one in passages), reverse=True)


def test_several_files_share_the_answer(tmp_path: Path) -> None:
    """One file with many fitting passages does not push all others out."""
    long = "\n".join(RETRY.replace("send_with_retry", f"send_with_retry_{number}") for number in range(20))
    code = make_repo(tmp_path / "code", {"src/long.py": long, "src/short.py": RETRY})
    assert "src/short.py" in found(index_of(code), QUESTION)[:4]


def test_a_question_the_code_does_not_answer_finds_nothing(code: Path) -> None:
    """One word in common is not an answer."""
    assert found(index_of(code), "who booked the server room for the party on thursday evening?") == []


@each_row("question", HOSTILE)
def test_any_text_can_be_asked(code: Path, question: str) -> None:
    """Query syntax, control characters, emoji and very long messages are questions like any other."""
    assert len(index_of(code).search(question)) <= 8


def test_a_long_message_is_searched_for_what_it_is_about(code: Path) -> None:
    """A trace of 40,000 characters around the question does not hide it."""
    noise = "\n".join(f'File "/opt/x{number}.py", line {number}' for number in range(1_200))
    assert found(index_of(code), f"send_with_retry raised GiveUp, why?\n{noise}"[:40_000])[0] == "src/transport.py"


def test_a_second_start_reads_nothing(code: Path) -> None:
    """A new object over the same database and commit reads no blob."""
    assert index_of(code).refresh().read == 4
    assert index_of(code).refresh().read == 0


def test_a_changed_file_is_the_only_one_read_again(code: Path) -> None:
    """After a commit only the blobs it brought are read, and their text is found at once."""
    index = index_of(code)
    index.refresh()
    commit = commit_files(code, {"docs/guide.md": "# Guide\n\nThe zeppelin is moored on the roof.\n"})
    assert index.refresh().read == 1
    passages = index.search("where is the zeppelin moored?")
    assert [(passage.path, passage.commit) for passage in passages] == [("docs/guide.md", commit)]


def test_commit_after_commit_reads_only_what_changed(tmp_path: Path) -> None:
    """A file that changes again and again leaves few dead passages, so the index is not built anew."""
    index = index_of(make_repo(tmp_path / "code", {f"app/part_{number}.py": f"x = {number}\n" for number in range(12)}))
    index.refresh()
    for number in range(8):
        commit_files(tmp_path / "code", {"app/part_0.py": f"y = {number}\n"})
        assert index.refresh().read == 1


def test_deleted_and_renamed_files_are_no_longer_found(code: Path) -> None:
    """The index holds the files of its commit and no others."""
    index = index_of(code)
    index.refresh()
    git(code, "mv", "src/transport.py", "src/courier.py")
    git(code, "rm", "--quiet", "tests/test_transport.py")
    git(code, "commit", "--quiet", "--message", "move")
    index.refresh()
    assert found(index, QUESTION) == ["src/courier.py"]


def test_what_is_not_committed_is_not_found(code: Path) -> None:
    """The work tree is no evidence."""
    (code / "src" / "new.py").write_text("ZEPPELIN = 'moored on the roof'\n")
    assert found(index_of(code), "where is the zeppelin moored?") == []


def test_files_no_answer_may_come_from_are_not_found(tmp_path: Path) -> None:
    """Binaries, oversized and minified files, lock files, secrets and links leave no passage."""
    text = "the zeppelin is moored on the roof\n"
    never = {
        "picture.py": text.encode() + b"\0",
        "large.py": text * 40_000,
        "app.min.js": text,
        "bundle.js": text.strip() * 100,
        "uv.lock": text,
        ".env": text,
        "deploy/prod.env": text,
        "keys/id_rsa": text,
        "keys/server.pem": text,
        "config/credentials.json": text,
        "new\nline.py": text,
        "empty.py": "",
    }
    code = make_repo(tmp_path / "code", never)
    (tmp_path / "outside.py").write_text(text)
    (code / "link.py").symlink_to(tmp_path / "outside.py")
    commit_files(code, {"src/found.py": text})
    index = index_of(code)
    report = index.refresh()
    assert found(index, "where is the zeppelin moored?") == ["src/found.py"]
    assert (report.files, report.skipped, report.read) == (2, 10, 4)


def test_a_source_file_with_one_long_line_is_found(tmp_path: Path) -> None:
    """A table in one line hides neither the lines around it nor what they define."""
    source = f"COLORS = '{'*.py=0;38;5;48:' * 200}'\n\n\n" + "def moor():\n    return 'roof'\n\n\n" * 150
    index = index_of(make_repo(tmp_path / "code", {"src/colors.py": source}))
    assert set(found(index, "what does moor return?")) == {"src/colors.py"}
    assert index.definitions("moor")


def test_a_file_of_50_mb_is_never_read(tmp_path: Path) -> None:
    """Its size in the tree is enough to leave it alone."""
    code = make_repo(tmp_path / "code", {"src/dump.sql": b"zeppelin roof\n" * 3_600_000, "src/a.py": "A = 1\n"})
    index = index_of(code)
    report = index.refresh()
    assert (report.read, report.files, report.skipped) == (1, 1, 1)
    assert report.gaps.words() == "1 file over 1 MB, src/dump.sql"
    commit_files(code, {"src/dump.sql": "ZEPPELIN = 'roof'\n"})
    assert index.refresh().gaps == IndexGaps()


def test_a_file_that_is_no_utf_8_is_found(tmp_path: Path) -> None:
    """Undecodable bytes are replaced, the words around them are found."""
    code = make_repo(
        tmp_path / "code", {"src/caf\xe9 \U0001f600.py": b"# the zeppelin is moored at the caf\xe9\nZEPPELIN = 1\n"}
    )
    assert found(index_of(code), "where is the zeppelin moored?") == ["src/café 😀.py"]


def test_text_without_spaces_between_words_is_found(tmp_path: Path) -> None:
    """Scripts such as Japanese are compared by pairs of characters."""
    code = make_repo(tmp_path / "code", {"src/a.py": "# 接続エラーのときは再試行する\nA = 1\n", "src/b.py": "B = 1\n"})
    assert found(index_of(code), "再試行はどこですか") == ["src/a.py"]


def test_a_repository_without_files_finds_nothing(tmp_path: Path) -> None:
    """An empty commit is indexed and answers nothing."""
    index = index_of(make_repo(tmp_path / "code", {}))
    assert (index.refresh().files, index.search(QUESTION)) == (0, [])


def test_a_repository_without_commits_is_refused(tmp_path: Path) -> None:
    """There is nothing to quote before the first commit."""
    with pytest.raises(ConfigError, match="no commit yet"):
        index_of(make_repo(tmp_path / "code")).search(QUESTION)


def test_a_finished_index_is_not_opened_again_before_a_commit(code: Path) -> None:
    """SQLite would create and remove two files beside it each time; one that was deleted is built again."""
    index, folder = index_of(code), code.parent / "index"
    commit = index.refresh().commit
    written_at = folder.stat().st_mtime_ns
    assert [index.refresh().read for _ in range(3)] == [0, 0, 0]
    assert folder.stat().st_mtime_ns == written_at
    new = commit_files(code, {"src/new.py": INVOICE})
    report = index.refresh()
    assert (report.commit, report.read) == (new, 1)
    assert commit != new
    for path in folder.iterdir():
        path.unlink()
    assert index.refresh().read > 1


@each_row("damage", [b"this is no database", b"SQLite format 3\0" + b"\xff" * 4_000])
def test_a_damaged_database_is_built_again(code: Path, damage: bytes) -> None:
    """The index is a cache: what cannot be read is thrown away."""
    index_of(code).refresh()
    for path in (code.parent / "index").iterdir():
        path.write_bytes(damage)
    assert found(index_of(code), QUESTION)[0] == "src/transport.py"


def test_damage_in_the_middle_of_the_database_is_built_again(code: Path) -> None:
    """Pages overwritten behind the header are noticed when they are read."""
    index_of(code).refresh()
    database = code.parent / "index" / "passages.sqlite"
    sqlite3.connect(database).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = database.read_bytes()
    database.write_bytes(content[:4_096] + b"\xee" * (len(content) - 4_096))
    assert found(index_of(code), QUESTION)[0] == "src/transport.py"


def test_a_database_of_another_version_is_built_again(code: Path) -> None:
    """An index an older triage wrote is not read."""
    index_of(code).refresh()
    with sqlite3.connect(code.parent / "index" / "passages.sqlite") as connection:
        connection.execute("PRAGMA user_version = 999")
    assert index_of(code).refresh().read == 4


def test_an_index_cut_off_while_it_was_built_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Batches that were stored are not read again, and no search answers from half an index."""

    class Killed(BaseException):
        pass

    def die(_done: int, _total: int) -> None:
        raise Killed

    code = make_repo(tmp_path / "code", {f"src/m{number}.py": f"zeppelin_{number} = 1\n" for number in range(600)})
    with pytest.raises(Killed):
        index_of(code).refresh(die)
    index = index_of(code)
    assert found(index, "zeppelin_599")[0] == "src/m599.py"
    assert index.refresh().read == 0


def test_progress_is_told_batch_by_batch(tmp_path: Path) -> None:
    """The last call says all is done; with nothing to do there is none."""
    code = make_repo(tmp_path / "code", {f"src/m{number}.py": f"zeppelin_{number} = 1\n" for number in range(600)})
    told: list[tuple[int, int]] = []
    index = index_of(code)
    assert index.refresh(lambda done, total: told.append((done, total))).read == 600
    assert told == [(500, 600), (600, 600)]
    index.refresh(lambda done, total: told.append((done, total)))
    assert len(told) == 2


def test_a_folder_that_cannot_be_written_is_an_error_for_the_operator(code: Path) -> None:
    """StoreError, not SQLite's own."""
    (code.parent / "index").write_text("a file where the folder should be")
    with pytest.raises(StoreError, match="index"):
        index_of(code).refresh()


def test_many_threads_search_while_the_code_moves_on(code: Path) -> None:
    """Every passage found fits the commit it names, whatever else happens."""
    index, repo = index_of(code), GitRepo(code)
    index.refresh()
    failures: list[str] = []

    def work() -> None:
        for passage in [passage for _ in range(10) for passage in index.search(QUESTION)]:
            lines = repo.lines_at(passage.commit, passage.path) or []
            if "\n".join(lines[passage.start - 1 : passage.end]) != passage.text:
                failures.append(passage.path)
        finished.append(True)

    finished: list[bool] = []
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(5):
        commit_files(code, {"src/transport.py": "# moved\n" * number + RETRY})
        index.refresh()
    for thread in threads:
        thread.join()
    assert (failures, finished) == ([], [True] * 4)


def test_a_file_that_holds_a_secret_of_this_process_is_not_indexed(tmp_path: Path) -> None:
    """Neither found nor stored, whoever committed it."""
    key = "our-own-key-0123"
    repo = make_repo(tmp_path / "code", {"keys.py": f'RETRY_KEY = "{key}"\n', "retry.py": "RETRY_LIMIT = 5\n"})
    database = tmp_path / "passages.sqlite"
    index = SqlitePassageIndex(GitRepo(repo), database, [key])
    assert [hit.path for hit in index.search("retry key limit")] == ["retry.py"]
    assert key.encode() not in database.read_bytes()


def test_the_index_holds_no_credential_of_the_code(tmp_path: Path) -> None:
    """What stands around one is found, its value stands nowhere in the database."""
    value = "ghp" + "_" + "aB3dE5gH7jK9" * 3
    settings = f'RETRY_TOKEN = "{value}"  # how the retry worker signs in\n'
    repo = make_repo(tmp_path / "code", {"worker.py": settings, "docs/worker.md": f"The retry worker uses {value}.\n"})
    index = SqlitePassageIndex(GitRepo(repo), tmp_path / "passages.sqlite")
    found = index.search("how does the retry worker sign in?")
    assert {passage.path for passage in found} >= {"worker.py"}
    assert all("[redacted: GitHub token]" in passage.text for passage in found)
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("passages.sqlite*"))
    assert value.encode() not in kept
    assert value[8:].lower().encode() not in kept.lower()


def damage(repo: Path, path: str, content: bytes | None) -> None:
    """Take away the object of a committed file, or put `content` in its place."""
    blob = git(repo, "rev-parse", f"HEAD:{path}")
    stored = repo / ".git" / "objects" / blob[:2] / blob[2:]
    whole = stored.read_bytes()
    stored.unlink()
    if content is not None:
        stored.write_bytes(content or whole[: len(whole) - 20])


@pytest.mark.parametrize("content", [None, b"junk", b""])
def test_one_file_that_cannot_be_read_costs_no_other(code: Path, tmp_path: Path, content: bytes | None) -> None:
    """A lost, a broken and a truncated object are left out; the rest is found."""
    damage(code, "src/billing.py", content)
    index = SqlitePassageIndex(GitRepo(code), tmp_path / "passages.sqlite")
    assert index.search(QUESTION)[0].path == "src/transport.py"
    assert index.search("how is an invoice printed to PDF?") == []


def test_a_pointer_of_git_lfs_is_not_taken_for_the_file(tmp_path: Path) -> None:
    """Its three lines are about storage; the text they stand for is not in the checkout."""
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"
    repo = make_repo(tmp_path / "code", {"model.txt": pointer, "src/transport.py": RETRY})
    report = SqlitePassageIndex(GitRepo(repo), tmp_path / "passages.sqlite").refresh()
    assert (report.files, report.skipped) == (1, 1)
    assert report.gaps == IndexGaps(lfs=("model.txt",))


class Seconds:
    """A clock of seconds that moves when told to."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_what_was_fetched_or_mended_meanwhile_is_searched_from_the_next_minute_on(tmp_path: Path) -> None:
    """`git lfs pull` and a mended object change no commit; a picture is no gap."""
    text = RETRY.encode()
    digest = hashlib.sha256(text).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(text)}\n"
    repo = make_repo(
        tmp_path / "code", {"src/transport.py": pointer, "src/billing.py": INVOICE, "logo.png": pointer[:-1]}
    )
    blob = git(repo, "rev-parse", "HEAD:src/billing.py")
    stored = repo / ".git" / "objects" / blob[:2] / blob[2:]
    stored.rename(tmp_path / "lost")
    clock = Seconds()
    index = SqlitePassageIndex(GitRepo(repo), tmp_path / "passages.sqlite", monotonic_s=clock)
    assert index.refresh().gaps == IndexGaps(unreadable=("src/billing.py",), lfs=("src/transport.py",))
    assert index.refresh().gaps.words() == (
        "1 file that git cannot read, src/billing.py; 1 file whose text is in Git LFS only, src/transport.py"
    )
    (tmp_path / "lost").rename(stored)
    kept = repo / ".git" / "lfs" / "objects" / digest[:2] / digest[2:4] / digest
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"other text")
    clock.now_s += AGAIN_S
    assert index.refresh().gaps == IndexGaps(lfs=("src/transport.py",))
    kept.write_bytes(text)
    assert index.refresh().read == 0
    clock.now_s += AGAIN_S
    assert index.refresh().gaps == IndexGaps()
    assert found(index, QUESTION) == ["src/transport.py"]
    assert index.refresh().read == 0


def test_a_submodule_is_a_gap_until_it_is_gone(code: Path, tmp_path: Path) -> None:
    """It is a repository of its own, of which nothing is read."""
    git(code, "update-index", "--add", "--cacheinfo", f"160000,{git(code, 'rev-parse', 'HEAD')},libs/other")
    git(code, "commit", "--quiet", "--message", "submodule")
    index = SqlitePassageIndex(GitRepo(code), tmp_path / "passages.sqlite")
    assert index.refresh().gaps == IndexGaps(submodules=("libs/other",))
    git(code, "rm", "--quiet", "--cached", "libs/other")
    git(code, "commit", "--quiet", "--message", "no submodule")
    assert index.refresh().gaps == IndexGaps()


def test_names_are_found_where_they_are_defined(code: Path) -> None:
    """With path, line and what encloses them, however they are capitalised."""
    index = index_of(code)
    index.refresh()
    (found,) = index.definitions("PRINTINVOICE")
    assert (found.name, found.scope, found.path, found.line) == ("printInvoice", "InvoicePrinter", "src/billing.py", 4)
    assert index.definitions("print") == []


def test_definitions_follow_the_commits(code: Path) -> None:
    """A file that changes, moves or goes takes its names along."""
    index = index_of(code)
    index.refresh()
    commit_files(code, {"src/billing.py": "\n\nclass Invoice:\n    pass\n"})
    index.refresh()
    assert index.definitions("printInvoice") == []
    assert [one.line for one in index.definitions("Invoice")] == [3]
    git(code, "rm", "--quiet", "src/billing.py")
    git(code, "commit", "--quiet", "--message", "gone")
    index.refresh()
    assert index.definitions("Invoice") == []


def test_every_line_of_a_long_file_keeps_its_names(tmp_path: Path) -> None:
    """Passages share no ids, and each definition is on its own line."""
    lines = [f"LIMIT_{number} = {number}" for number in range(500)]
    index = index_of(make_repo(tmp_path / "long", {"a.py": "\n".join(lines)}))
    index.refresh()
    found = [index.definitions(f"LIMIT_{number}") for number in range(500)]
    assert [[one.line for one in each] for each in found] == [[number + 1] for number in range(500)]


def test_files_and_folders_are_found_by_what_they_are_called(code: Path) -> None:
    """By their path, its end or their name; a folder ends in a slash; nothing in the middle of a word."""
    index = index_of(code)
    index.refresh()
    assert index.places_called("src/billing.py") == ["src/billing.py"]
    assert index.places_called("Billing") == ["src/billing.py"]
    assert index.places_called("src") == ["src/"]
    assert index.places_called("port.py") == []


def test_what_was_asked_before_raises_what_holds_it(tmp_path: Path) -> None:
    """A follow-up with hardly a word of its own finds what the thread is about."""
    files = {f"src/{name}.py": f"# {name}: it is set here\nlimit = 5\n" for name in ("alpha", "beta", "gamma")}
    index = index_of(make_repo(tmp_path / "three", files))
    assert index.search("and where is the limit?", subject="how long is gamma?")[0].path == "src/gamma.py"
    assert index.search("and why?", subject="how long is beta?")[0].path == "src/beta.py"
