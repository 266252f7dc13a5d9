"""Names are kept by id: bounded, written only where they are new, and never a reason to fail."""

from __future__ import annotations

from typing import Any

from bot.errors import StoreError
from bot.ports.collections import PEOPLE
from handlers.names import MAX_NAMES, NameBook
from tests.fakes import MemoryDocuments


def test_a_name_is_read_by_another_process_and_written_once() -> None:
    """The bot learns it again every minute."""
    documents = MemoryDocuments()
    book = NameBook(documents)
    for _ in range(3):
        book.learn("U0ANA", "ana")
        book.learn("C0HELP", "help")
    names = NameBook(documents).names()
    assert names.text("<@U0ANA|x> asked <@U0BEN> in <#C0HELP>") == "@ana asked U0BEN in #help"
    stored = documents.get(PEOPLE, PEOPLE)
    assert stored is not None
    assert stored.version == 2


def test_what_is_no_name_is_not_stored() -> None:
    """Slack may leave it out, or give the id again."""
    documents = MemoryDocuments()
    book = NameBook(documents)
    for none in (None, "", "  ", "U0ANA", 5):
        book.learn("U0ANA", none)
    assert documents.get(PEOPLE, PEOPLE) is None


def test_the_names_are_bounded_and_short() -> None:
    """The first that was learned gives way; a terminal obeys nothing in a name."""
    documents = MemoryDocuments()
    full = {f"U{number:06}": "x" for number in range(MAX_NAMES)}
    documents.put(PEOPLE, PEOPLE, {"names": full}, version=0)
    book = NameBook(documents)
    book.learn("U0ANA", "\x1b[31m" + "a" * 500)
    names = book.names()
    assert names.name("U000000") == "U000000"
    assert names.name("U000001") == "@x"
    assert len(names.name("U0ANA")) <= 41
    assert "\x1b" not in names.name("U0ANA")


class RefusingDocuments(MemoryDocuments):
    """A disk that refuses every write."""

    def put(self, *_: Any, **__: Any) -> None:
        """Refuse."""
        raise StoreError("cannot write people: No space left on device")


def test_a_disk_that_refuses_costs_only_the_name() -> None:
    """Whoever asked Slack goes on."""
    book = NameBook(RefusingDocuments())
    book.learn("U0ANA", "ana")
    assert book.names().name("U0ANA") == "U0ANA"
