"""From matches to the best passages."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.search.files import path_weight
from bot.domain.search.ranking import MANY, Corpus, Match, likelihood, rank
from bot.domain.search.tokens import Term

CART, HOST = (Term((word,), 1.0, word) for word in ("cart", "host"))
FOLDERS = ("src", "tests", "docs", "vendor")


@given(st.integers(MANY, 5 * MANY), st.integers(0, 2**32))
def test_the_best_are_found_though_not_every_file_is_looked_at(many: int, seed: int) -> None:
    """A file of a kind that counts little never hides a better one that comes behind it by its words."""
    chance = random.Random(seed)
    found = [(chance.choice(FOLDERS), chance.randint(1, 9)) for _ in range(many)]
    paths = {at: f"{folder}/mod_{at}.py" for at, (folder, _) in enumerate(found)}
    match = Match(CART, {at: float(score) for at, (_, score) in enumerate(found)}, len(found))
    best = rank([match], paths, total=10_000, question="cart", limit=8)
    every = {at: score * path_weight(paths[at], "cart") for at, score in match.scores.items()}
    expected = sorted(every, key=lambda at: (-every[at], at))[:8]
    assert [one.passage for one in best] == expected


def test_an_index_that_knows_a_rare_word_is_likelier_than_one_full_of_a_common_word() -> None:
    """And one that knows nothing of a question is the least likely."""
    rare = Corpus(1_000, {CART: 20, HOST: 0})
    common = Corpus(1_000, {CART: 0, HOST: 400})
    neither = Corpus(1_000, {CART: 0, HOST: 0})
    whole = Corpus(3_000, {CART: 20, HOST: 400})
    told = [likelihood(own, whole, 3) for own in (rare, common, neither)]
    assert told[2] == 0
    assert told == sorted(told, reverse=True)
