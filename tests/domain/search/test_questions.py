"""What a question names and what it asks for, by its form."""

from bot.domain.search import questions
from bot.domain.search.questions import Named, question_of
from tests.tables import each_row


@each_row(
    "text, names, files, words",
    [
        ("where is `send` charged?", (Named("send"),), (), ("charged",)),
        ("what does Client::close() do?", (Named("close", ("Client",)),), (), ()),
        ("wo ist read_timeout gesetzt?", (Named("read_timeout"),), (), ("wo", "ist", "gesetzt")),
        ("`std::mem::swap`, please", (Named("swap", ("std", "mem")),), (), ()),
        ("what is in `src/shop/cart.go`?", (), ("src/shop/cart.go",), ()),
        ("<@U123> is the cart cached? https://example.com/cart", (), (), ("cart", "cached")),
        ("", (), (), ()),
    ],
)
def test_names_files_and_words_are_told_apart(
    text: str, names: tuple[Named, ...], files: tuple[str, ...], words: tuple[str, ...]
) -> None:
    """A name keeps what stands before it; mentions, addresses and what says nothing are left out."""
    found = question_of(text)
    assert (found.names, found.files, found.words) == (names, files, words)


@each_row(
    "text, forms",
    [
        ("who removed the fax support?", {"history"}),
        ("why was the timeout raised?", {"value", "number"}),
        ("when did we drop Python 2?", {"history"}),
        ("what changed in the last week?", {"changes"}),
        ("how long do we wait?", {"value", "number"}),
        ("which date format is the default?", {"value"}),
        ("who calls `send`?", {"uses"}),
        ("where is `Client` defined?", {"definition"}),
        ("carts are lost", set()),
    ],
)
def test_a_form_is_told_by_its_words(text: str, forms: set[str]) -> None:
    """Each of them leads to a way of its own to search."""
    found = question_of(text)
    kinds = ("history", "changes", "value", "number", "uses", "definition")
    assert {kind for kind in kinds if found.wants(getattr(questions, kind.upper()))} == forms


def test_neighbouring_words_may_be_one_name() -> None:
    """The longest run comes first."""
    runs = list(question_of("where is the order service?").runs())
    assert ("order", "service") in runs
    assert runs.index(("order", "service")) < runs.index(("order",))


def test_what_is_pasted_beside_a_question_is_not_asked() -> None:
    """Its names are kept, and a short remark belongs to the question."""
    asked = "how often do we retry the payment gateway?"
    found = question_of(f"{asked} I tried curl with bearer, session, postgres, shop, address, password, `Gate.open`")
    assert (found.asked, found.words) == (asked, ("retry", "payment", "gateway"))
    assert found.names == (Named("open", ("Gate",)),)
    remark = question_of("how long does the login cookie stay valid? never set anything")
    assert remark.asked == remark.text
