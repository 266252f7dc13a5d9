"""Ports to code and what is known: clones, code hosts, the passages of a codebase, notes and earlier answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # every command imports the ports, and few of them code
    from bot.domain.fixes import NewPullRequest, PullRequest
    from bot.domain.notes import KeptNote
    from bot.domain.returns import AgedClone
    from bot.domain.search.definitions import Definition
    from bot.domain.search.passages import CommitHit, IndexReport, MemoryHit, Passage
    from bot.domain.search.tokens import WordCounts


class Clones(Protocol):
    """The clones of this process."""

    def before_investigation(self, codebases: Collection[str] | None = None) -> tuple[AgedClone, ...]:
        """Fetch those of `codebases` (None: all) that are older than they may be; return those that still are."""


class CodeHostClient(Protocol):
    """What the bot asks of a code host.

    Each method raises ProviderError with the host's own words where it refuses (`code` is the HTTP status), Unavailable
    where the same may work later.
    """

    name: str
    """What people call it."""

    def default_branch(self) -> str:
        """Return the branch that pull requests lead to."""

    def find(self, branch: str, marker: str) -> PullRequest | None:
        """Return the pull request of a branch, in whatever state, whose body holds the marker."""

    def open(self, new: NewPullRequest) -> PullRequest:
        """Open a draft pull request; raises Unconfirmed where nobody can tell: look before trying again."""

    def look(self, number: int) -> PullRequest:
        """Return how a pull request stands now."""


Progress = Callable[[int, int], None]


class PassageIndex(Protocol):
    """Passages of the codebase, ranked for a question."""

    def refresh(self, on_progress: Progress | None = None) -> IndexReport:
        """Bring the index up to HEAD; only blobs it has not seen are read. `on_progress`: (files done, files to do)."""

    def search(self, question: str, *, limit: int = 8, subject: str = "") -> list[Passage]:
        """Return the best passages at the indexed commit, best first; empty where there is nothing like it.

        The words of `subject`, what was asked before, raise what holds them.
        """

    def word_counts(self, question: str, *, subject: str = "") -> WordCounts:
        """Return how common the words of a question are here."""

    def similar(self, text: str, *, limit: int) -> list[Passage]:
        """Return the passages that share the most telling words with a text of any length, best first.

        None of them need cover it, and no kind of file counts more than another.
        """

    def definitions(self, name: str) -> list[Definition]:
        """Return what defines a name at the indexed commit, however it is capitalised, in the order of the index."""

    def places_called(self, name: str) -> list[str]:
        """Return the searched files a name means (a path, its end, a file name without its ending), then the folders.

        A folder ends in a slash.
        """

    def lines(self, path: str) -> list[str]:
        """Return the lines of a searched file at the indexed commit as they may be shown; none of any other file.

        No credential stands in them, and none is looked for: that was done when the file was indexed.
        """

    def commits(self, words: str, *, limit: int = 10) -> list[CommitHit]:
        """Return the commits whose messages hold the words, with these, best first; of two alike the newer one.

        None where git could not list them, which is a gap. Raises ProviderError where git cannot read them any more.
        """

    def near_names(self, name: str, *, limit: int = 3) -> list[str]:
        """Return the nearest names of definitions: one slip of the finger away, of long names two.

        None of them is nearer than another. A short name has none.
        """

    def names_holding(self, words: Sequence[str], *, limit: int = 20) -> list[str]:
        """Return the names of definitions that hold some of the words, of three letters at least, best first."""


class NoteIndex(Protocol):
    """Earlier answers: approved notes in memory/ and posted replies."""

    def search(self, question: str, *, limit: int = 3) -> list[MemoryHit]:
        """Return the notes and replies nearest to a question, best first."""

    def add(self, name: str, text: str) -> str:
        """Keep a note under `name` or, where that is taken, a numbered one; returns its ref, `memory/<name>.md`.

        The same text under the same name is kept once. Raises StoreError when the disk refuses.
        """


class NoteStore(Protocol):
    """The notes of memory/: kept, put away; people's own are never deleted.

    Every method raises StoreError where the disk refuses.
    """

    def all(self) -> Sequence[KeptNote]:
        """Return every note that is not retired, by name; the same object while nothing has changed."""

    def create(self, name: str, text: str) -> str | None:
        """Keep a note under a name that was never taken and return its ref; None if it was, and nothing happens."""

    def retire(self, ref: str) -> str | None:
        """Put a note where no search looks and return its new ref; None if it is not there any more."""

    def put(self, ref: str, whole: str) -> None:
        """Write a note with the facts above its words, over what stands there; raises InputError for no ref."""

    def stored(self) -> Iterator[tuple[str, str]]:
        """Yield every note, retired ones too: its path below memory/, and the whole of it; for `put` elsewhere."""

    def remove(self, ref: str) -> None:
        """Delete a note: the copy of one that another team shares no more. Harmless where there is none."""
