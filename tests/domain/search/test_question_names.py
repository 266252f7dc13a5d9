"""Names in a question, and whether it asks for what one of them is."""

from bot.domain.search.question_names import asks_for_history, in_context, names_in
from tests.tables import each_row

DEFINITIONS = {
    "where is `AsyncClient` defined?": "AsyncClient",
    "what does Client.send do?": "Client.send",
    "show me MAX_TERMS": "MAX_TERMS",
    "how does `httpx.Client.send(request)` work?": "httpx.Client.send",
    "wo ist `Zähler` definiert?": "Zähler",
    "où est défini get_proxy ?": "get_proxy",
    "¿dónde está definida la función `enviar`?": "enviar",
    "`Foo` はどこで定義されていますか": "Foo",
    "where is gin::Engine implemented": "gin.Engine",
    "what is <@U123> `Timeout`?": "Timeout",
    "what does get_proxy return?": "get_proxy",
}
OTHERS = (
    "why does send_request retry twice?",
    "who calls `send`?",
    "where is `send` used?",
    "what happens in `send` when the server hangs up?",
    "is `send` safe to call from a thread?",
)


@each_row("question", DEFINITIONS)
def test_the_form_of_a_question_asks_for_a_definition(question: str) -> None:
    """In any of the languages, with code spans and without."""
    found = names_in(question)
    assert [".".join((*one.qualifiers, one.name)) for one in found.names] == [DEFINITIONS[question]]
    assert found.wants_definition(of_value=False)


@each_row("question", OTHERS)
def test_a_question_about_something_else_asks_for_no_definition(question: str) -> None:
    """The name helps, but what defines it is no answer."""
    found = names_in(question)
    assert found.names
    assert not found.wants_definition(of_value=False)


def test_a_value_may_be_asked_for() -> None:
    """What something is set to, its definition says; what sets it, a function's definition does not."""
    found = names_in("what is MAX_TERMS set to?")
    assert found.wants_definition(of_value=True)
    assert not found.wants_definition(of_value=False)


def test_plain_words_may_be_names_where_the_form_says_so() -> None:
    """As one word, together with underscores, and written together; never in a question about something else."""

    def spellings(question: str) -> list[list[str]]:
        return [[one.name for one in run] for run in names_in(question).bare()]

    assert spellings("where is the retry policy defined?") == [["retry_policy", "retrypolicy"]]
    assert spellings("what is a session?") == [["session"]]
    assert spellings("where is the cached decorator defined?") == [["cached"]]
    assert spellings("what is the default keepAliveTimeout?") == []
    assert list(names_in("why does the session expire so early?").bare()) == []
    assert list(names_in("how does bash completion know what to suggest for file arguments?").bare()) == []


def test_a_condition_does_not_make_it_a_question_about_use() -> None:
    """What something does when it gets nothing is about it; when it is run is not."""
    assert not names_in("what does `send` return when the body is empty?").is_about_use
    assert names_in("and when is `send` run?").is_about_use


def test_a_word_capitalised_within_a_sentence_may_be_a_type() -> None:
    """Not the first word of a request, and no abbreviation."""
    assert names_in("Where is the Email validator of the API?").capitalised == ("Email",)


def test_a_follow_up_is_searched_for_with_what_it_is_about() -> None:
    """Its own name stands for the one asked about before; "it" stands for all that was asked."""
    before = "what is the default `keep_alive`?"
    assert in_context("and connectTimeout?", before) == ("and connectTimeout?", "what is the default  ?")
    assert in_context("and where is it checked?", before)[0].endswith(before)
    whole = "how is a failed payment of that customer charged again?"
    assert in_context(whole, before) == (whole, before)


def test_files_are_named_with_their_lines_and_folders() -> None:
    """A path may stand in the text as it is."""
    assert names_in("who changed src/flask/app.py:12 last?").files == ("src/flask/app.py",)
    assert names_in("what's new in domain/search?").files == ("domain/search",)
    assert names_in("what is in `app.py`?").files == ("app.py",)


@each_row(
    "part",
    ["", "`", "` ", "😀", "a.", "::", "x()", "-", "/", "a/", "who ", "what has been ", "_a{} ", "`a{}` ", "a_{}."],
)
def test_of_any_text_at_most_eight_names_are_read(part: str) -> None:
    """Nothing is too odd or too long."""
    question = "".join(part.format(number) for number in range(40_000 // max(1, len(part))))
    found = names_in(question)
    asks_for_history(question)
    assert len(found.names) <= 8


@each_row("asked", ["get_userはどこで定義されていますか", "在哪里定义了get_user函数"])
def test_a_name_is_found_between_words_without_blanks(asked: str) -> None:
    """Japanese and Chinese leave no blank beside a name."""
    found = names_in(asked)
    assert [one.name for one in found.names] == ["get_user"]
    assert found.is_explicit
