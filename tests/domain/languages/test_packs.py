"""Language packs: small, plain text, and alarms that count only where a clause starts."""

from __future__ import annotations

import pytest

from bot.domain.languages.packs import LANGUAGES, Pack, pack, tells_of_alarm
from tests.tables import each_row

MAX_ENTRIES = 60
MAX_ENTRY_CHARS = 70

LISTS = tuple(kind for kind in Pack._fields if kind != "numbers")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_pack_is_small(language: str) -> None:
    """At most 60 entries of one line each beside the words for zero to twelve, and each stands once."""
    found = [entry for kind in LISTS for entry in getattr(pack(language), kind)]
    assert all(isinstance(entry, str) and 0 < len(entry) <= MAX_ENTRY_CHARS for entry in found)
    assert len(found) <= MAX_ENTRIES
    assert all(len(set(getattr(pack(language), kind))) == len(getattr(pack(language), kind)) for kind in LISTS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_pack_has_a_word_for_each_number(language: str) -> None:
    """From 0 to 12, empty only where it is an article or means something else too."""
    numbers = pack(language).numbers
    assert len(numbers) == 13
    assert sum(not words for words in numbers) <= 2


@each_row(
    "said",
    [
        "prod is down",
        "Hey team, CHECKOUT is broken!!",
        "the rollout is through. payments are failing for everyone",
        "site caído",
        "o site está fora do ar",
        "die Seite ist nicht erreichbar",
        "le site est en panne",
        "server mati dari tadi",
        "本番環境が落ちています",
        "线上服务挂了",
    ],
)
def test_an_outage_told_at_the_start_of_a_clause_is_an_alarm(said: str) -> None:
    """In every language, also behind a greeting."""
    assert tells_of_alarm(said)


@each_row(
    "said",
    [
        "if prod is down, page the secondary",
        "what do we do when checkout is down?",
        'the banner says "production is down"',
        "prod was down yesterday",
        "payments are down 5% this week",
        "my local server is down",
        "wenn die Seite nicht erreichbar ist, ruf an",
    ],
)
def test_a_case_the_past_and_a_measure_are_none(said: str) -> None:
    """The phrase does not start a clause, or a number follows."""
    assert not tells_of_alarm(said)


def test_a_huge_text_is_read_in_no_time() -> None:
    """Every pattern is RE2's."""
    assert not tells_of_alarm("payments are " * 20_000)
