"""Finding the answer in what a model writes around it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.model_messages import Unreadable, read_answer
from tests.agent.modelrun import Answer
from tests.tables import each_row

PROSE = st.text(st.characters(exclude_characters='{}"', exclude_categories=["Cs"]), max_size=60)


@given(before=PROSE, text=st.text(), after=PROSE)
def test_an_answer_is_found_whatever_prose_stands_around_it(before: str, text: str, after: str) -> None:
    """Braces, quotes and fences inside its strings included."""
    assert read_answer(f"{before}{json.dumps({'text': text})}{after}", Answer) == Answer(text=text)


def test_half_a_character_in_an_answer_can_be_stored() -> None:
    """A model may write any escape; no file, request or digest can hold one."""
    found = read_answer('{"text": "It is \\ud83d five."}', Answer)
    assert found == Answer(text="It is ? five.")


def test_objects_that_are_no_answer_are_passed_over() -> None:
    """An example, half an object, a set of code."""
    text = 'As in {"query": "x"} or {x for x in y}: {"text": "this"} and not {"text": '
    assert read_answer(text, Answer) == Answer(text="this")


def test_two_answers_that_differ_are_none() -> None:
    """One of them may be quoted from the data; the same twice is one answer."""
    with pytest.raises(Unreadable, match="differ; send one"):
        read_answer('{"text": "It is five hundred."} No: {"text": "five"}', Answer)
    assert read_answer('{"text": "five"} {"text": "five"}', Answer) == Answer(text="five")


@each_row("text, told", [("none", "no JSON object"), ('{"text": 1}', "text: Input"), ('{"words": "x"}', "text: Field")])
def test_what_is_wrong_is_told_for_the_repair(text: str, told: str) -> None:
    """By field, in words the model can act on."""
    with pytest.raises(Unreadable, match=told):
        read_answer(text, Answer)


def test_an_object_nested_deeper_than_any_answer_is_none() -> None:
    """Some depths can be read and not be written again; none of them ends the run."""
    for depth in (*range(60, 1_200, 60), 999, 1_000, 1_001):
        nested = '{"a":' * depth + "1" + "}" * depth
        assert read_answer(f'{nested} {{"text": "this"}}', Answer) == Answer(text="this")


@each_row("before", ["{" * 900, '{"' * 600, '{"a":[' * 300, "{ x }\n" * 200])
def test_an_answer_behind_much_that_is_none_is_found(before: str) -> None:
    """Braces of code, half an object and one that nests without an end."""
    assert read_answer(f'{before}" {" " * 100} {{"text": "this"}}', Answer) == Answer(text="this")
