"""How far the index is stands where others read it, and a codebase that cannot be searched is said once."""

from __future__ import annotations

from bot.casework.reports.code_standings import read_index_standing
from bot.domain.search.passages import IndexGaps, IndexReport
from bot.errors import CodebaseUnreadable, DiskRefused, NotCloned, TriageError
from bot.ports.collections import INDEX, SingleDocument
from bot.runtime.watches import IndexWatch
from tests.fakes import MemoryDocuments
from tests.tables import each_row


class Code:
    """A codebase whose index is so far, or cannot be read, and what its watch says."""

    def __init__(self) -> None:
        self.waiting, self.error = 0, None  # type: int, TriageError | None
        self.said = list[str]()
        self.documents = MemoryDocuments()
        self.refreshes = {"": self._refresh}
        self.watch = IndexWatch(lambda: self.refreshes, SingleDocument(self.documents, INDEX), say=self.said.append)

    def tick(self, waiting: int = 0, error: TriageError | None = None) -> str:
        """Look once; return what others read then."""
        self.waiting, self.error = waiting, error
        self.watch.tick()
        return read_index_standing(self.documents).words()

    def _refresh(self) -> IndexReport:
        if self.error is not None:
            raise self.error
        gaps = IndexGaps(waiting=self.waiting, total=50_000 if self.waiting else 0)
        return IndexReport(commit="c", files=1, read=0, skipped=0, seconds=0.0, gaps=gaps)


def test_progress_is_read_by_others_until_the_index_is_finished() -> None:
    """Nothing is said in the ops channel meanwhile."""
    code = Code()
    assert code.tick(waiting=38_000) == "12,000 of 50,000 files indexed"
    assert code.tick(waiting=1) == "49,999 of 50,000 files indexed"
    assert not code.watch.is_whole
    assert code.tick() == ""
    assert code.watch.is_whole
    assert code.said == []


def test_a_codebase_that_cannot_be_read_is_said_once_and_its_end_once() -> None:
    """With the reason, which others read as well."""
    code = Code()
    assert "the .git is damaged" in code.tick(error=CodebaseUnreadable("the .git is damaged"))
    code.tick(error=CodebaseUnreadable("the .git is damaged"))
    assert not code.watch.is_whole
    assert len(code.said) == 1
    assert "the .git is damaged" in code.said[0]
    assert code.tick() == ""
    code.tick()
    assert len(code.said) == 2


def test_a_clone_that_is_not_there_yet_is_for_whoever_makes_it() -> None:
    """It is told of there; questions are investigated again once it is."""
    code = Code()
    assert code.tick(error=NotCloned("not yet")) == ""
    assert not code.watch.is_whole
    assert code.said == []


@each_row("waiting", [0, 5])
def test_a_full_disk_is_for_the_watch_over_the_disk(waiting: int) -> None:
    """What was known before stays."""
    code = Code()
    before = code.tick(waiting=waiting)
    assert code.tick(error=DiskRefused("no room")) == before
    assert code.said == []


def test_a_codebase_that_is_gone_is_refreshed_and_named_no_more() -> None:
    """A new one is, from the next look on."""
    code = Code()
    code.refreshes = {"shop": code._refresh, "infra": code._refresh}
    code.tick()
    del code.refreshes["shop"]
    code.tick()
    assert list(read_index_standing(code.documents).codebases) == ["infra"]
