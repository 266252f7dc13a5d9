"""What is asked again, after how long, and what people are told when it does not help."""

from __future__ import annotations

from pathlib import Path

from bot.agent.model_run import ModelUnavailable
from bot.agent.provider_errors import LATER_ATTEMPTS
from tests.agent.modelrun import FINAL, KEY, bench, look, patiently, playing
from tests.model_server.script import Turn
from tests.tables import each_row


def test_a_rate_limit_is_waited_out_as_long_as_it_asks(tmp_path: Path) -> None:
    """Retry-After, in fractions of a second here; the log of the run says so."""
    with playing(Turn(status=429, error="rate_limit_error", retry_after="0.15"), FINAL) as server:
        bench(server).run(folder=tmp_path)
    assert len(server.requests) == 2
    assert "asking again in 0.15 s" in (tmp_path / "run.log").read_text()


def test_a_rate_limit_longer_than_the_run_is_not_waited_for() -> None:
    """The SDK alone would sleep an hour; the caller gets the advice instead."""
    with playing(Turn(status=429, error="rate_limit_error", retry_after="3600")) as server:
        error = bench(server).fail(ModelUnavailable)
    assert error.retry_after_s == 3600
    assert "limiting our rate" in str(error)
    assert len(server.requests) == 1


def test_an_overload_passes() -> None:
    """529 twice, then an answer: two waits of half a second and one."""
    with playing(Turn(status=529, error="overloaded_error", retry_after="0.01"), look(), FINAL) as server:
        assert bench(server).run().turns == 2


def test_an_overload_that_stays_ends_the_run_after_four_attempts() -> None:
    """The SDK's own retries are off, so they do not multiply with ours."""
    with playing(Turn(status=529, error="overloaded_error", retry_after="0.01")) as server:
        assert "overloaded" in str(bench(server).fail(ModelUnavailable))
    assert len(server.requests) == 4


def test_an_overload_in_the_middle_of_a_run_gets_more_attempts() -> None:
    """What the run did so far would be paid for again."""
    with playing(look(), Turn(status=529, error="overloaded_error", retry_after="0.01")) as server:
        bench(server).fail(ModelUnavailable)
    assert len(server.requests) == 1 + 4 + LATER_ATTEMPTS


def test_a_first_request_is_not_waited_for_longer_than_its_run_allows() -> None:
    """Nothing is lost if the run is made later, and somebody else may have its place."""
    with playing(Turn(status=429, error="rate_limit_error", retry_after="6")) as server:
        error = bench(server).fail(ModelUnavailable, limits={"first_pause_s": 5.0})
    assert (len(server.requests), error.code, error.retry_after_s) == (1, "rate_limited", 6)


def test_the_total_limit_bounds_the_waiting() -> None:
    """Each wait is short enough by itself; together they are not."""

    def attempt(limit_s: float) -> None:
        with playing(Turn(status=529, error="overloaded_error", retry_after=f"{0.6 * limit_s}")) as server:
            bench(server).fail(ModelUnavailable, limits={"total_s": limit_s})
        assert len(server.requests) == 2

    patiently(attempt)


@each_row(
    "status, kind, told",
    [
        (401, "authentication_error", "check ANTHROPIC_API_KEY"),
        (403, "permission_error", "claude-opus-5-5"),
        (404, "not_found_error", "`investigator.model`"),
        (400, "invalid_request_error", "invalid"),
        (413, "request_too_large", "narrower"),
    ],
)
def test_what_cannot_help_is_not_asked_again(status: int, kind: str, told: str) -> None:
    """People read what to do; the vendor's words and the key stay out of it."""
    with playing(Turn(status=status, error=kind, message=f"bad {KEY} given")) as server:
        error = bench(server).fail()
    assert told in str(error)
    assert KEY not in str(error)
    assert "scripted" not in str(error)
    assert len(server.requests) == 1


@each_row(
    "status, kind, words, code, told",
    [
        (400, "invalid_request_error", "Your credit balance is too low to access the API.", "no_credit", "add credit"),
        (402, "billing_error", "Payment required", "no_credit", "add credit"),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 1205000 tokens > 1000000",
            "prompt_too_long",
            "pasted text",
        ),
    ],
)
def test_what_a_refusal_means_is_said(status: int, kind: str, words: str, code: str, told: str) -> None:
    """An empty account and a prompt that is too long are no invalid requests, and waiting helps neither."""
    with playing(Turn(status=status, error=kind, message=words)) as server:
        error = bench(server).fail()
    assert (error.code, len(server.requests)) == (code, 1)
    assert told in str(error)


def test_a_provider_that_is_not_there_is_named_as_such() -> None:
    """Nothing listens at the address any more."""
    with playing(FINAL) as server:
        place = bench(server)
    assert "could not be reached" in str(place.fail(ModelUnavailable, limits={"total_s": 1.0}))


@each_row(
    "retry_after, told",
    [
        ("3600", "try again in 60 min"),
        ("20", "try again in a minute"),
        *((odd, "in a minute") for odd in (None, "inf", "-5", "soon")),
    ],
)
def test_people_are_told_when_to_try_again(retry_after: str | None, told: str) -> None:
    """As the provider says, not always a minute; a time that nobody can wait is none."""
    with playing(Turn(status=429, error="rate_limit_error", retry_after=retry_after)) as server:
        assert told in str(bench(server).fail(ModelUnavailable, limits={"total_s": 0.5}))


def test_a_web_page_is_named_as_one_and_not_asked_for_again() -> None:
    """A proxy's sign-in page or a wrong address is no reply that was cut off."""
    with playing(Turn(page=True)) as server:
        error = bench(server).fail()
    assert "no model API (text/html)" in str(error)
    assert "base_url" in str(error)


def test_a_page_in_the_middle_of_a_run_is_named_too() -> None:
    """Also where the answer is asked for without streaming."""
    with playing(Turn(text="no object"), Turn(page=True)) as server:
        assert "no model API (text/html)" in str(bench(server).fail())


def test_an_answer_that_stays_too_long_is_called_that() -> None:
    """Not an answer without a JSON object, which a half one is too."""
    with playing(Turn(text='{"text": "and so on', stop="max_tokens")) as server:
        error = bench(server).fail(limits={"max_tokens": 900})
    assert "longer than 900 tokens" in str(error)
    assert "be brief" in str(server.requests[-1]["body"]["messages"][-1])


def test_the_providers_own_reason_stands_in_the_log_of_the_run_without_secrets(tmp_path: Path) -> None:
    """People read ours; whoever looks into runs/ reads what the API said."""
    words = f"messages.3: image exceeds 5 MB; key {KEY}"
    with playing(Turn(status=400, error="invalid_request_error", message=words)) as server:
        error = bench(server).fail(folder=tmp_path)
    assert "exceeds" not in str(error)
    log = (tmp_path / "run.log").read_text()
    assert "image exceeds 5 MB" in log
    assert KEY not in log


def test_what_a_provider_repeats_of_the_key_is_cut_out_before_it_is_shortened(tmp_path: Path) -> None:
    """Half a key is a leak too, and nothing would know it for one."""
    with playing(Turn(status=400, error="invalid_request_error", message=f"{'x' * 492} {KEY} given")) as server:
        bench(server).fail(folder=tmp_path)
    said = (tmp_path / "run.log").read_text(encoding="utf-8")
    assert "the provider's words: xxx" in said
    assert KEY[: len(KEY) // 2] not in said
