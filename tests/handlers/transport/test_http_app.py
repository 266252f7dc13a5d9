"""What Slack signed passes, once; nothing else does, however it is made."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.transport import http_app
from handlers.transport.http_app import REMEMBERED_S, Signatures
from tests.fakes import FakeClock
from tests.handlers.signed import SECRET, sign
from tests.tables import each_row

BODY = b'{"type":"event_callback"}'


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def guard(clock: FakeClock) -> Signatures:
    return Signatures(SECRET, clock)


def headers(body: bytes = BODY, *, at: float, secret: str = SECRET) -> dict[str, str]:
    return {name.lower(): value for name, value in sign(body, at, secret).items()}


def test_slacks_own_example_is_genuine() -> None:
    """The request, secret and signature that Slack's documentation computes."""
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
        b"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
        b"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
        b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    clock = FakeClock()
    clock.advance(1_531_420_618 - clock.now().timestamp())
    signed = {
        "x-slack-request-timestamp": "1531420618",
        "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    }
    assert Signatures(SECRET, clock).accept(body, signed)


@each_row("age_s, genuine", [(0, True), (300, True), (301, False), (-300, True), (-301, False)])
def test_a_timestamp_counts_for_five_minutes_in_both_directions(
    guard: Signatures, clock: FakeClock, age_s: int, genuine: bool
) -> None:
    """Clocks differ, and an old request is somebody's recording."""
    assert guard.accept(BODY, headers(at=clock.now().timestamp() - age_s)) is genuine


@each_row("change", ["body", "secret", "timestamp", "signature", "version", "case"])
def test_what_was_changed_is_not_genuine(guard: Signatures, clock: FakeClock, change: str) -> None:
    """Any part of it."""
    at = clock.now().timestamp()
    signed = headers(at=at, secret="another" if change == "secret" else SECRET)
    body = BODY + b" " if change == "body" else BODY
    if change == "timestamp":
        signed["x-slack-request-timestamp"] = f"{at + 1:.0f}"
    signature = signed["x-slack-signature"]
    changed = {
        "signature": signature[:-1] + ("0" if signature[-1] != "0" else "1"),
        "version": signature.replace("v0=", "v1="),
        "case": "v0=" + signature[3:].upper(),
    }
    signed["x-slack-signature"] = changed.get(change, signature)
    assert not guard.accept(body, signed)


@given(timestamp=st.text(max_size=20), signature=st.text(max_size=80), body=st.binary(max_size=200))
def test_garbage_is_refused_and_never_an_error(timestamp: str, signature: str, body: bytes) -> None:
    """The SDK alone raises on a timestamp that is no number, a signature outside ASCII, a body that is no text."""
    guard = Signatures(SECRET, FakeClock())
    assert not guard.accept(body, {"x-slack-request-timestamp": timestamp, "x-slack-signature": signature})
    assert not guard.accept(body, {})


def test_the_same_request_counts_once(guard: Signatures, clock: FakeClock) -> None:
    """A recording is refused as long as its timestamp would pass; what fails the check is not remembered."""
    signed = headers(at=clock.now().timestamp() + 299)
    assert not guard.accept(BODY + b"x", signed)
    assert guard.accept(BODY, signed)
    for _ in range(6):
        assert not guard.accept(BODY, signed)
        clock.advance(99)


def test_a_redelivery_is_another_request(guard: Signatures, clock: FakeClock) -> None:
    """Slack signs it anew, with the time of then."""
    assert guard.accept(BODY, headers(at=clock.now().timestamp()))
    clock.advance(1)
    assert guard.accept(BODY, headers(at=clock.now().timestamp()))


def test_what_could_not_be_taken_may_come_again(guard: Signatures, clock: FakeClock) -> None:
    """Slack's first retry follows at once, perhaps in the same second."""
    signed = headers(at=clock.now().timestamp())
    assert guard.accept(BODY, signed)
    guard.forget(signed)
    assert guard.accept(BODY, signed)


def test_the_memory_is_bounded(guard: Signatures, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """What expired is forgotten first, then the oldest."""
    monkeypatch.setattr(http_app, "MAX_REMEMBERED", 3)
    for number in range(10):
        body = str(number).encode()
        assert guard.accept(body, headers(body, at=clock.now().timestamp()))
    assert len(guard._seen) == 3
    clock.advance(REMEMBERED_S)
    assert guard.accept(BODY, headers(at=clock.now().timestamp()))
    assert len(guard._seen) == 1


def test_bytes_that_are_no_text_are_refused_even_if_signed(guard: Signatures, clock: FakeClock) -> None:
    """Slack sends UTF-8."""
    body = b"\xff\xfe"
    assert not guard.accept(body, headers(body, at=clock.now().timestamp()))
