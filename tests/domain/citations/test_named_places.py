"""What reads as a place of the codebase is found in every spelling; what only looks like one is left alone."""

from __future__ import annotations

from pathlib import Path

from bot.domain.citations.named_places import places_in
from tests.tables import each_row, read_cases


@each_row(
    "text, places",
    [
        ("It is in shop/payments.py:88.", ["shop/payments.py:88"]),
        ("It is in `shop/payments.py:88-90`.", ["shop/payments.py:88-90"]),
        ("see **shop/payments.py:88–90**,", ["shop/payments.py:88-90"]),
        ("see shop/payments.py：88", ["shop/payments.py:88"]),
        ("see shop/pay\u200bments.py:88", ["shop/payments.py:88"]),
        ("see shop/payments.py:L88-L90", ["shop/payments.py:88-90"]),
        ("see payments.py:88:5 there", ["payments.py:88"]),
        ("see shop/payments.py#L10-L20", ["shop/payments.py:10-20"]),
        ("[here](shop/payments.py#L10)", ["shop/payments.py:10"]),
        ("https://github.com/o/r/blob/main/shop/payments.py#L10-L20", ["shop/payments.py:10-20"]),
        ("https://github.com/o/r/commit/abc1234def", ["commit abc1234def"]),
        ("`shop/payments.py` line 12", ["shop/payments.py:12"]),
        ("`shop/payments.py`, lines 12-14", ["shop/payments.py:12-14"]),
        ("`shop/payments.py` (line 12)", ["shop/payments.py:12"]),
        ("shop/payments.py(12)", ["shop/payments.py:12"]),
        ("payments.py at lines 12 and 40", ["payments.py:12", "payments.py:40"]),
        ("payments.py L12", ["payments.py:12"]),
        ("line 12 of `shop/payments.py`", ["shop/payments.py:12"]),
        ("lines 3 to 9 in the file payments.py", ["payments.py:3-9"]),
        ("In Zeile 12 von payments.py", ["payments.py:12"]),
        ("payments.py の 12 行目", ["payments.py", "line 12"]),
        ("第12行", ["line 12"]),
        ("na linha 12", ["line 12"]),
        ("On line 88 it is set.", ["line 88"]),
        ("Makefile:12 and bin/deploy:7", ["Makefile:12", "bin/deploy:7"]),
        ("It stands in `payments.py`.", ["payments.py"]),
        ("It stands in shop/payments.py, and in settings.yml", ["shop/payments.py", "settings.yml"]),
        ("Since commit abc1234 it is 5", ["commit abc1234"]),
        ("commit 1234567, commit `DEADBEEF`", ["commit 1234567", "commit deadbeef"]),
        ("changed in a1b2c3d4", ["commit a1b2c3d4"]),
        ("fixed (a1b2c3d)", ["commit a1b2c3d"]),
        ("at " + "a1" * 20, ["commit " + "a1" * 20]),
    ],
)
def test_places_are_found_however_they_are_written(text: str, places: list[str]) -> None:
    """With lines or without, as editors, GitHub and people write them, in several languages."""
    assert [str(place) for place in places_in(text)] == places


@each_row(
    "text",
    [
        "Version v1.2.3, Python 3.11.4, release 2026.11",
        "At 12:30, from 9:00 to 17:45, ratio 3:1",
        "Redis on redis:6379, db.internal:5432, 127.0.0.1:8080, localhost:3000/health",
        "Colours #a1b2c3 and #a1b2c3d4; 0xdeadbeef1",
        "See https://docs.python.org/3/library/asyncio.html#module-asyncio and http://localhost:8080/a/b.py",
        "We use Node.js, Vue.js and Socket.IO",
        "Call `response.json()` or request.json; event.ts is a string",
        "e.g. i.e. a.m. U.S. vs. and/or client/server TCP/IP text/html application/json",
        "Run `python manage.py migrate` or `pytest tests/test_app.py -q`",
        "```\npip install -r requirements.txt\n```",
        "mail me@host.py, user/repo, /v1/users/3, @scope/package",
        "all *.py files, the .yml ones, os.path, asyncio.run, bot.casework.checks",
        "request 4bf92f3577b34da6a3ce929d0e0e4736 and id 7f3a9c1b",
        "550e8400-e29b-41d4-a716-446655440000 in the log",
        "feedback, facade, decade; added 1234567 rows in 2024",
        "line items, the command line, 3 lines, deadline 12",
        "Put it into your `.env`.",
        "It is `shop.payments.charge` and takes 5 s (3 times).",
        "",
    ],
)
def test_what_only_looks_like_a_place_is_none(text: str) -> None:
    """An ordinary truthful draft is full of dots, colons and digits."""
    assert places_in(text) == []


PLACES = read_cases(Path(__file__).with_name("places.yml"))


def test_a_place_is_found_in_words_and_in_other_languages() -> None:
    """Numbers as words, names of files without an ending, the first lines of a file."""
    found = {text: [str(one) for one in places_in(text)] for text, _ in PLACES["named"]}
    assert [(text, place, found[text]) for text, place in PLACES["named"] if place not in found[text]] == []


def test_words_near_to_those_of_places_name_none() -> None:
    """Lines of an output, a file of a kind, numbers of other things."""
    assert [(text, found) for text in PLACES["none"] if (found := places_in(text))] == []


def test_there_are_enough_of_both() -> None:
    """The tables are not emptied unseen."""
    assert min(len(PLACES["named"]), len(PLACES["none"])) >= 60
