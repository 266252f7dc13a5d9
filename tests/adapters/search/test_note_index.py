"""The memory index: earlier answers, found again for a question that is asked anew."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.search.note_index import WordNoteIndex
from bot.adapters.storage.files.file_engine import NoteFiles
from bot.domain.notes import UNKNOWN, NoteCitation, StaleCitations
from bot.errors import ProviderError, StoreError
from tests.fakes import unchanged

ANSWER = "The payment client retries five times, then raises GiveUp."
RETRIES = f"# Retries of the payment client\n\nGeneral remarks.\n\n{ANSWER}\n"
DEPLOY = "# Deploying\n\nDeploys run from the main branch every Tuesday.\n"
QUESTION = "how many times does the payment client retry?"


class Replies:
    """A journal of posted replies, in memory."""

    def __init__(self, *records: Mapping[str, Any]) -> None:
        self._records = list(records)

    @property
    def bad_lines(self) -> int:
        return 0

    def append(self, record: Mapping[str, Any]) -> None:
        self._records.append(record)

    def records(self, *, last_bytes: int | None = None) -> Iterator[dict[str, Any]]:
        yield from (dict(record) for record in self._records)


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A folder of two notes, one of them deeper down."""
    folder = tmp_path / "memory"
    (folder / "ops").mkdir(parents=True)
    (folder / "retries.md").write_text(RETRIES)
    (folder / "ops" / "deploy.md").write_text(DEPLOY)
    return folder


def test_a_note_is_found_with_its_title_and_its_telling_paragraph(memory: Path) -> None:
    """The hit cites the file and shows the paragraph that answers, verbatim."""
    hits = WordNoteIndex(NoteFiles(memory), Replies(), unchanged).search(QUESTION)
    assert [hit.ref for hit in hits] == ["memory/retries.md"]
    assert hits[0].title == "Retries of the payment client"
    assert hits[0].excerpt == ANSWER


def test_a_note_in_a_folder_is_cited_with_its_folder(memory: Path) -> None:
    """Notes are read recursively."""
    hits = WordNoteIndex(NoteFiles(memory), Replies(), unchanged).search("when do deploys run from the main branch?")
    assert [hit.ref for hit in hits] == ["memory/ops/deploy.md"]


def test_a_posted_reply_is_found_by_its_thread(memory: Path) -> None:
    """Replies are answers too, notes or not."""
    reply = {"thread_id": "T1.C1.1700000000.000100", "reply_text": "Uploads are limited to 20 MB by the gateway."}
    hits = WordNoteIndex(NoteFiles(memory), Replies(reply), unchanged).search("what limits uploads in the gateway?")
    assert [(hit.ref, hit.excerpt) for hit in hits] == [("reply/T1.C1.1700000000.000100", reply["reply_text"])]


def test_a_reply_is_found_by_the_question_it_answered(memory: Path) -> None:
    """Where the journal holds the question, its words count and it names the hit."""
    reply = {"thread_id": "T1.C1.1.2", "reply_text": "20 MB.", "question": "How large may an avatar upload be?"}
    hits = WordNoteIndex(NoteFiles(memory), Replies(reply), unchanged).search("max size of an avatar upload?")
    assert [hit.title for hit in hits] == ["How large may an avatar upload be?"]


def test_records_that_are_no_replies_are_passed_over(memory: Path) -> None:
    """A record without a text or a thread is not an answer."""
    broken = Replies({"thread_id": "T1.C1.1.2"}, {"reply_text": QUESTION}, {"thread_id": None, "reply_text": None}, {})
    assert [hit.ref for hit in WordNoteIndex(NoteFiles(memory), broken, unchanged).search(QUESTION)] == [
        "memory/retries.md"
    ]


def test_a_new_or_changed_note_is_found_at_once(memory: Path) -> None:
    """Notes are read again when their folder changed."""
    notes = WordNoteIndex(NoteFiles(memory), Replies(), unchanged)
    assert notes.search("where is the zeppelin moored?") == []
    (memory / "zeppelin.md").write_text("The zeppelin is moored on the roof.\n")
    assert [hit.title for hit in notes.search("where is the zeppelin moored?")] == ["zeppelin"]
    (memory / "zeppelin.md").unlink()
    assert notes.search("where is the zeppelin moored?") == []


def test_one_word_in_common_is_no_earlier_answer(memory: Path) -> None:
    """A hit goes into the rubric, so it has to be about the question."""
    assert (
        WordNoteIndex(NoteFiles(memory), Replies(), unchanged).search("which client asked for the new invoice layout?")
        == []
    )


def test_scores_lie_between_nothing_and_all_of_the_question(tmp_path: Path) -> None:
    """The note that holds more of the question comes first; a score is a share."""
    (tmp_path / "a.md").write_text("payment client retry policy\n")
    (tmp_path / "b.md").write_text("payment client layout\n")
    hits = WordNoteIndex(NoteFiles(tmp_path), Replies(), unchanged).search("payment client retry")
    assert [hit.ref for hit in hits] == ["memory/a.md", "memory/b.md"]
    assert 0 < hits[1].score < hits[0].score <= 1


def test_no_more_hits_than_asked_for(tmp_path: Path) -> None:
    """The limit holds, and equal hits come in the order of their names."""
    for number in range(5):
        (tmp_path / f"n{number}.md").write_text("payment client retry\n")
    hits = WordNoteIndex(NoteFiles(tmp_path), Replies(), unchanged).search(QUESTION, limit=2)
    assert [hit.ref for hit in hits] == ["memory/n0.md", "memory/n1.md"]


def test_an_excerpt_has_at_most_300_characters(tmp_path: Path) -> None:
    """What is shown fits on a card."""
    (tmp_path / "long.md").write_text("payment client retry " * 500)
    assert len(WordNoteIndex(NoteFiles(tmp_path), Replies(), unchanged).search(QUESTION)[0].excerpt) <= 300


def test_links_out_of_the_folder_are_not_read(tmp_path: Path) -> None:
    """A link in memory/ shows nothing of the rest of the machine."""
    (tmp_path / "outside.md").write_text(RETRIES)
    memory = tmp_path / "memory"
    memory.mkdir()
    (memory / "link.md").symlink_to(tmp_path / "outside.md")
    (memory / "dangling.md").symlink_to(tmp_path / "gone.md")
    assert WordNoteIndex(NoteFiles(memory), Replies(), unchanged).search(QUESTION) == []


@pytest.mark.parametrize("question", ["", "😀", '"(NEAR', "payment " * 5_000, "\ud83d"])
def test_any_text_can_be_asked(memory: Path, question: str) -> None:
    """Nothing, emoji, query syntax and very long messages are questions like any other."""
    assert len(WordNoteIndex(NoteFiles(memory), Replies(), unchanged).search(question)) <= 3


def test_a_missing_folder_and_odd_notes_are_no_error(tmp_path: Path) -> None:
    """Before the first note there is nothing; bytes that are no UTF-8 and empty files are read as they are."""
    memory = tmp_path / "memory"
    assert WordNoteIndex(NoteFiles(memory), Replies(), unchanged).search(QUESTION) == []
    memory.mkdir()
    (memory / "latin.md").write_bytes(b"# Caf\xe9\n\npayment client retry policy\n")
    (memory / "empty.md").write_bytes(b"")
    assert [hit.ref for hit in WordNoteIndex(NoteFiles(memory), Replies(), unchanged).search(QUESTION)] == [
        "memory/latin.md"
    ]


def test_a_note_is_added_under_a_free_name_and_found(tmp_path: Path) -> None:
    """The same text is kept once, another gets a number, and what stands above the words is not searched."""
    notes = WordNoteIndex(NoteFiles(tmp_path / "memory"), Replies(), unchanged)
    text = '---\nsaved_by: "U1"\n---\n\n# Retries of the gateway\n\nThe gateway retries five times.\n'
    assert notes.add("retries", text) == notes.add("retries", text) == "memory/retries.md"
    assert notes.add("retries", "another") == "memory/retries-2.md"
    assert (tmp_path / "memory" / "retries.md").read_text() == text
    [hit] = notes.search("how often does the gateway retry?")
    assert (hit.ref, hit.title) == ("memory/retries.md", "Retries of the gateway")
    assert "saved_by" not in hit.excerpt
    assert notes.search("who is saved_by U1?") == []
    assert sorted(path.name for path in (tmp_path / "memory").iterdir()) == ["retries-2.md", "retries.md"]


def test_a_link_in_memory_is_not_written_through(tmp_path: Path) -> None:
    """A name that leads elsewhere is taken, wherever it leads."""
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "retries.md").symlink_to(tmp_path / "elsewhere")
    assert (
        WordNoteIndex(NoteFiles(tmp_path / "memory"), Replies(), unchanged).add("retries", "text")
        == "memory/retries-2.md"
    )
    assert not (tmp_path / "elsewhere").exists()


def test_a_disk_that_refuses_a_note_is_named(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "memory").write_text("in the way")
    with pytest.raises(StoreError):
        WordNoteIndex(NoteFiles(tmp_path / "memory"), Replies(), unchanged).add("retries", "text")


CITED = (
    '---\nkind: "note"\ncites: [{"path": "a.py", "lines": "2", "commit": "abcdef0123", "quote": "LIMIT = 5"}]\n---\n\n'
)
LESSON = (
    '---\nkind: "dismissal"\n---\n\n# Dismissed: How often does the payment client retry?\n\n'
    "A draft that answered this was dismissed: the client is gone.\n\n"
    "What it said:\n\n> The payment client retries five times, how many times the payment client retry.\n"
)


def all_changed(cites: Sequence[NoteCitation]) -> StaleCitations:
    """Say that every cited line is another now."""
    return StaleCitations(changed=cites)


def all_unconfigured(cites: Sequence[NoteCitation]) -> StaleCitations:
    """Say that the codebase of every cited line is gone."""
    return StaleCitations(unconfigured=cites)


def nobody_knows(cites: Sequence[NoteCitation]) -> StaleCitations:
    """Be a codebase that cannot be read."""
    raise ProviderError("git: broken")


def test_a_note_whose_lines_changed_comes_with_a_warning_and_after_its_equals(tmp_path: Path) -> None:
    """It settles nothing; the same words of people's own, which cite nothing, come first."""
    (tmp_path / "a-cited.md").write_text(CITED + RETRIES)
    (tmp_path / "b-plain.md").write_text(RETRIES)
    before = WordNoteIndex(NoteFiles(tmp_path), Replies(), unchanged).search(QUESTION)
    assert [(hit.ref, hit.caution, hit.is_settled) for hit in before] == [
        ("memory/a-cited.md", "", True),
        ("memory/b-plain.md", "", True),
    ]
    plain, cited = WordNoteIndex(NoteFiles(tmp_path), Replies(), all_changed).search(QUESTION)
    assert (plain.ref, plain.caution, plain.is_settled) == ("memory/b-plain.md", "", True)
    assert (cited.ref, cited.is_settled, cited.score < plain.score) == ("memory/a-cited.md", False, True)
    assert cited.caution == "the cited lines changed since abcdef0 (a.py:2): check before you rely on it"


def test_a_note_from_a_codebase_that_is_gone_says_so_and_settles_nothing(tmp_path: Path) -> None:
    """It comes after its equals as well."""
    (tmp_path / "a-cited.md").write_text(CITED + RETRIES)
    (tmp_path / "b-plain.md").write_text(RETRIES)
    plain, cited = WordNoteIndex(NoteFiles(tmp_path), Replies(), all_unconfigured).search(QUESTION)
    assert (plain.ref, cited.ref, cited.is_settled) == ("memory/b-plain.md", "memory/a-cited.md", False)
    assert cited.caution == "cited from a codebase that is not configured here (a.py:2): nobody can check it"


def test_a_changed_note_makes_room_for_one_that_stands(tmp_path: Path) -> None:
    """The limit is counted after the codebase was asked."""
    (tmp_path / "a-cited.md").write_text(CITED + RETRIES)
    (tmp_path / "b-plain.md").write_text(RETRIES)
    hits = WordNoteIndex(NoteFiles(tmp_path), Replies(), all_changed).search(QUESTION, limit=1)
    assert [hit.ref for hit in hits] == ["memory/b-plain.md"]


def test_where_nobody_can_look_a_note_is_found_and_says_so(tmp_path: Path) -> None:
    """A broken codebase stops no search of memory."""
    (tmp_path / "cited.md").write_text(CITED + RETRIES)
    [hit] = WordNoteIndex(NoteFiles(tmp_path), Replies(), nobody_knows).search(QUESTION)
    assert hit.caution == UNKNOWN


REF = {"kind": "file", "ref": "shop/uploads.py:7", "commit": "abcdef0123", "quote": "MAX_MB = 20"}
UPLOADS = {
    "thread_id": "T1.C1.1.2",
    "question": "What limits uploads in the gateway?",
    "reply_text": "Uploads in the gateway are limited to 20 MB.",
}


def test_a_reply_whose_lines_changed_comes_with_a_warning(tmp_path: Path) -> None:
    """Its citations stand in the log; those that are not lines of code, or cannot be read, are passed over."""
    refs = [REF, {"kind": "git_commit", "ref": "abcdef0", "commit": None, "quote": ""}, "no citation", {"kind": 5}]
    asked = str(UPLOADS["question"])
    for found in ({"evidence_refs": refs}, {"evidence_refs": "none"}, {}):
        index = WordNoteIndex(NoteFiles(tmp_path), Replies({**UPLOADS, **found}), all_changed)
        [hit] = index.search(asked)
        told = "the cited lines changed since abcdef0 (shop/uploads.py:7): check before you rely on it"
        assert (hit.caution, hit.is_settled) == ((told, False) if found.get("evidence_refs") == refs else ("", True))


def test_a_note_shows_its_own_words_before_what_it_quotes(tmp_path: Path) -> None:
    """A lesson of an earlier release quotes the dismissed draft, however well its words fit the question."""
    (tmp_path / "dismissed.md").write_text(LESSON)
    [hit] = WordNoteIndex(NoteFiles(tmp_path), Replies(), unchanged).search(QUESTION)
    assert hit.excerpt.startswith("A draft that answered this was dismissed: the client is gone.")
    assert (hit.caution, hit.is_settled) == ("", True)
