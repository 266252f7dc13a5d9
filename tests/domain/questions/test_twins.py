"""Which questions and alerts are the same: by key, never by likeness."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.questions.twins import question_keys
from tests.tables import each_row

TRACE = (
    'Traceback (most recent call last):\n  File "{root}/shop/pay.py", line 3, in charge\n    send(order)\n'
    '  File "{root}/shop/gate.py", line {line}, in send\n    raise {error}\n{error}: no route {number}'
)


def are_same(one: str, other: str) -> bool:
    return not question_keys(one).isdisjoint(question_keys(other))


def a_trace(*, root: str = "/srv", line: int = 9, error: str = "GateError", number: int = 1) -> str:
    return TRACE.format(root=root, line=line, error=error, number=number)


@each_row(
    "one, other",
    [
        ("How are sessions signed?", "how are  SESSIONS signed"),
        ("How are sessions signed?", "<@U1> How are sessions signed?! :pray: 🙏🏽"),
        ("How are sessions signed?", "How are `sessions` signed…"),
        ("Why isn't staging up?", "why isn’t staging up"),
        ("Ｗｈｙ is prod down", "why is prod down!!"),
        ("为什么部署失败了，谁知道？", "为什么部署失败了 谁知道"),
        ("デプロイが失敗するのはなぜ？", "デプロイが失敗するのはなぜ"),
        ("¿Dónde se firman las sesiones?", "dónde se firman las sesiones"),
        ("pay.py broken?", "PAY.py broken"),
        (a_trace(), a_trace(number=2)),
        (f"in prod:\n{a_trace()}", f"who knows this?\n{a_trace(root='/home/ana/code')}"),
    ],
)
def test_the_same_words_or_frames_are_the_same_however_they_are_written(one: str, other: str) -> None:
    """Case, blanks, emoji, mentions, marks around words; of a trace the machine and the message."""
    assert are_same(one, other)


@each_row(
    "one, other",
    [
        ("How are sessions signed?", "How are sessions signed in staging?"),
        ("How are sessions signed?", "How is a session signed?"),
        ("Is the limit 10 or less?", "Is the limit 100 or less?"),
        ("Is a == b allowed here?", "Is a != b allowed here?"),
        ("Is lag > 5 normal?", "Is lag < 5 normal?"),
        ("Is C++ code built here?", "Is C code built here?"),
        ("Why is orders-2 slow?", "Why is orders-3 slow?"),
        ("Can we delete it now?", "Can we not delete it now?"),
        (a_trace(), a_trace(line=12)),
        (a_trace(), a_trace(error="TimeoutError")),
        ("What calls pay.py:3 at all?", "Who wrote pay.py:3 then?"),
    ],
)
def test_whatever_differs_makes_another_question(one: str, other: str) -> None:
    """The one word, number or sign that differs is what is asked for."""
    assert not are_same(one, other)


@each_row("text", ["any update?", "why?", "any idea?", "<@U1> help please", "为什么？", "почему?", ":eyes:", "!!!", ""])
def test_words_that_tell_nothing_without_their_surroundings_have_no_twin(text: str) -> None:
    """Whoever asks "any update?" asks about something else each time."""
    assert question_keys(text) == frozenset()


def test_beside_images_words_do_not_count() -> None:
    """Another picture is another question; the same trace is the same."""
    assert question_keys("what does this mean here?", images=("F1",)) == frozenset()
    assert question_keys(a_trace(), images=("F1",)) < question_keys(a_trace())


def test_of_an_alert_the_fingerprint_alone_counts() -> None:
    """Its words differ from one message to the next, and are those of a question never."""
    text = "Queue lag on orders is 900"
    assert question_keys(text, "f1") == question_keys("Queue lag on orders is 3", "f1")
    assert question_keys(text, "f1").isdisjoint(question_keys(text, "f2") | question_keys(text))


@given(st.text(max_size=200))
def test_a_text_is_the_same_as_itself_in_other_capitals_between_other_blanks(text: str) -> None:
    """Where it tells anything, whatever it is made of."""
    keys = question_keys(text)
    assert question_keys(f"  {text}\n") == keys
    assert question_keys(f"{text} 🙏") == keys
