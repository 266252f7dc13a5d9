"""What a run costs, and that a limit is never exceeded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.cost import (
    DEFAULT_PRICES,
    CostMeter,
    Price,
    dearest_model,
    estimate_tokens,
    known_price,
    with_overrides,
)
from bot.agent.model_run import SpendLimitReached
from bot.domain.returns import Usage
from tests.agent.modelrun import FINAL, MODEL, bench, look, playing
from tests.model_server.script import Turn
from tests.tables import each_row

USED = {
    "input_tokens": 1000,
    "output_tokens": 200,
    "cache_read_input_tokens": 3000,
    "cache_creation_input_tokens": 400,
}


def test_every_kind_of_token_is_counted_and_paid() -> None:
    """Two replies of claude-opus-5-5: 4, 20, 0.2 and 5 dollars per million."""
    with playing(look(usage=USED), FINAL.model_copy(update={"usage": USED})) as server:
        usage = bench(server).run().usage
    assert usage == Usage(
        input_tokens=2000, output_tokens=400, cache_read_tokens=6000, cache_write_tokens=800, cost_usd=usage.cost_usd
    )
    assert usage.cost_usd == pytest.approx((2000 * 4 + 400 * 20 + 6000 * 0.2 + 800 * 5) / 1e6)


def test_a_model_without_a_price_counts_at_the_dearest_known_one() -> None:
    """A team's own prices count among the known ones; the usage says that the price is assumed."""
    used = {"input_tokens": 1_000_000, "output_tokens": 0, "cache_read_input_tokens": 0}
    turn = Turn(answer={"text": "done"}, usage={**used, "cache_creation_input_tokens": 0})
    for prices in (DEFAULT_PRICES, with_overrides({"house-model": Price(99, 100, 1)})):
        with playing(turn) as server:
            usage = bench(server, prices=prices).run(model="claude-unheard-of").usage
        assert usage.cost_usd == prices[dearest_model(prices)].input == max(price.input for price in prices.values())
        assert usage.price_assumed
    with playing(turn) as server:
        assert not bench(server).run().usage.price_assumed


def test_an_assumed_price_keeps_a_spend_limit() -> None:
    """8,000 tokens of answer may cost 40 cents at the dearest price: not one call fits."""
    with playing(FINAL) as server:
        bench(server).fail(SpendLimitReached, model="claude-unheard-of", limits={"spend_usd": 0.35})
    assert server.requests == []


def test_haiku_costs_five_times_as_much_above_100k_tokens_of_prompt() -> None:
    """All tokens of the call, cache reads among the prompt's."""
    price = DEFAULT_PRICES["claude-haiku-5-5"]
    assert price.cost_usd(Usage(input_tokens=100_000, output_tokens=100_000)) == pytest.approx(0.01 + 0.05)
    assert price.cost_usd(Usage(cache_read_tokens=200_000, output_tokens=100_000)) == pytest.approx(0.01 + 0.25)


def test_a_teams_prices_win_over_the_defaults() -> None:
    """And leave the others as they are."""
    own = Price(1, 2, 0)
    prices = with_overrides({MODEL: own, "house-model": own})
    assert prices[MODEL] == prices["house-model"] == own
    assert known_price("claude-haiku-5-5", prices) == DEFAULT_PRICES["claude-haiku-5-5"]


def test_a_long_prompt_has_its_own_price_call_by_call() -> None:
    """Two calls of 60,000 tokens are none of 120,000; one of 120,000 costs the long price, all of it."""
    prices = with_overrides({MODEL: Price(1, 0, 0, long=Price(10, 0, 0), long_above=100_000)})
    short = {"input_tokens": 60_000, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    long = {"input_tokens": 20_000, "cache_read_input_tokens": 50_000, "cache_creation_input_tokens": 50_000}
    with playing(look(usage=short), Turn(answer={"text": "done"}, usage=short)) as server:
        assert bench(server, prices=prices).run().usage.cost_usd == pytest.approx(0.12)
    with playing(Turn(answer={"text": "done"}, usage=long)) as server:
        assert bench(server, prices=prices).run().usage.cost_usd == pytest.approx(0.2 + 0.5 * 1.25)


@each_row(
    "model",
    ["anthropic.claude-haiku-4-5-20251001-v1:0", "us.anthropic.claude-haiku-4-5-v1:0", "claude-haiku-4-5@20251001"],
)
def test_a_clouds_id_has_the_price_of_the_model(model: str) -> None:
    """Region, vendor, date and revision are no other model; a team's price for the very id wins."""
    assert known_price(model, DEFAULT_PRICES) == DEFAULT_PRICES["claude-haiku-4-5"]
    own = Price(1, 2, 0)
    assert known_price(model, with_overrides({model: own})) == own


def test_a_call_that_might_exceed_the_limit_is_not_made() -> None:
    """8,000 tokens of answer may cost 0.16 dollars: not one call fits."""
    with playing(FINAL) as server:
        error = bench(server).fail(SpendLimitReached, limits={"spend_usd": 0.15})
    assert server.requests == []
    assert "spend limit" in str(error)
    assert error.usage == Usage(cost_usd=0.0)


def test_a_run_stops_before_the_call_that_might_exceed_its_limit() -> None:
    """The first call fits; with its cost on the bill the second one does not."""
    dear = look(usage={**USED, "output_tokens": 7000})
    with playing(dear, FINAL) as server:
        error = bench(server).fail(SpendLimitReached, limits={"spend_usd": 0.25})
    assert len(server.requests) == 1
    assert error.usage.output_tokens == 7000


def test_retries_and_forced_answers_are_bounded_too() -> None:
    """Every request asks first."""
    with playing(look(usage={**USED, "output_tokens": 2000}), FINAL) as server:
        bench(server).fail(SpendLimitReached, limits={"max_turns": 1, "spend_usd": 0.18})
    assert len(server.requests) == 1


class _Reported:
    cache_read_input_tokens = cache_creation_input_tokens = None

    def __init__(self, input_tokens: int, output_tokens: int) -> None:
        self.input_tokens, self.output_tokens = input_tokens, output_tokens


@given(
    calls=st.lists(st.tuples(st.text(max_size=400), st.integers(0, 500)), max_size=12),
    limit=st.floats(0, 0.05),
)
def test_no_sequence_of_calls_exceeds_a_limit(calls: list[tuple[str, int]], limit: float) -> None:
    """As long as an answer keeps to its token limit and a text is no more tokens than the estimate."""
    meter = CostMeter(MODEL, DEFAULT_PRICES, limit_usd=limit, max_tokens=500)
    for text, output in calls:
        try:
            meter.reserve(text)
        except SpendLimitReached:
            break
        meter.add(_Reported(estimate_tokens(text), output))
    assert (meter.usage.cost_usd or 0.0) <= limit + 1e-9
