"""One connection, watched with an injected clock: what is lost is noticed, and made again at a decent pace."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from queue import Queue
from typing import Any

import pytest

from bot.errors import ProviderError, StoreError, Unavailable
from handlers.transport.socket_supervisor import MAX_PAUSE_S, SILENT_S, SocketClient, SocketSupervisor

WAIT_S = 120


class FakeSession:
    """A session that is active until it is disconnected; it never has a socket of its own to look at."""

    sock = None

    def __init__(self) -> None:
        self.last_ping_pong_time: float | None = None
        self.active = True

    def is_active(self) -> bool:
        return self.active

    def disconnect(self) -> None:
        self.active = False


class FakeClient:
    """What a Lifeline uses of the SDK's client; `script` is raised instead of connecting."""

    def __init__(self, *script: Exception) -> None:
        self.script = list(script)
        self.current_session: FakeSession | None = None
        self.sessions = 0
        self.connected = threading.Event()

    def session_id(self) -> str | None:
        return f"s{self.sessions}" if self.current_session else None

    def is_connected(self) -> bool:
        return self.current_session is not None and self.current_session.active

    def connect_to_new_endpoint(self) -> None:
        if self.script:
            raise self.script.pop(0)
        self.current_session = FakeSession()
        self.sessions += 1
        self.connected.set()

    def disconnect(self) -> None:
        if self.current_session:
            self.current_session.disconnect()

    def close(self) -> None:
        self.disconnect()


class Ward:
    """A lifeline, its clock, and what it did."""

    def __init__(self, *script: Exception) -> None:
        self.client: Any = FakeClient(*script)
        self.now = 0.0
        self.paused: list[float] = []
        self.noted = 0
        self.full = False
        self.line = SocketSupervisor(
            self.client, monotonic=lambda: self.now, on_session=self._note, wait=lambda s: bool(self.paused.append(s))
        )

    def _note(self) -> None:
        if self.full:
            raise StoreError("No space left on device")
        self.noted += 1

    def lose(self) -> None:
        """Let the session end, and wait for the next."""
        self.client.connected.clear()
        self.client.current_session.disconnect()
        self.line.check()
        assert self.client.connected.wait(WAIT_S)


@pytest.fixture
def ward() -> Iterator[Ward]:
    """One that is connected."""
    ward = Ward()
    ward.line.open()
    yield ward
    ward.line.close()


def test_a_new_session_is_noted_once(ward: Ward) -> None:
    """By the connecting, by the watch or by the first message, whichever comes first."""
    ward.line.check()
    ward.line.heard()
    assert ward.noted == 1


def test_a_session_is_as_old_as_the_request_for_it(ward: Ward) -> None:
    """What is written since may arrive on it."""
    ward.now += 7
    assert ward.line.session_age_s() == 7
    ward.lose()
    assert ward.line.session_age_s() == 0


def test_pongs_and_messages_are_signs_of_life(ward: Ward) -> None:
    """Either keeps the session."""
    for number in range(5):
        ward.now += SILENT_S
        ward.client.current_session.last_ping_pong_time = float(number)
        ward.line.check()
        ward.now += SILENT_S
        ward.line.heard()
        ward.line.check()
        assert ward.line.is_up()
    assert ward.client.sessions == 1


def test_a_peer_that_never_answered_is_noticed(ward: Ward) -> None:
    """The SDK itself would wait for it for ever; an open socket proves nothing."""
    ward.client.connected.clear()
    ward.now = SILENT_S + 1
    assert not ward.line.is_up()
    ward.line.check()
    assert ward.client.connected.wait(WAIT_S)
    assert ward.client.sessions == 2


def test_a_lost_session_is_made_again_and_noted(ward: Ward) -> None:
    """Noted before anything is heard on it."""
    ward.lose()
    ward.line.heard()
    assert ward.noted == 2
    assert ward.line.is_up()


def test_refusals_make_the_pauses_grow_to_a_minute(ward: Ward) -> None:
    """Slack allows about one address a minute; what it asks for itself is obeyed."""
    ward.client.script = [ProviderError("invalid_auth")] * 8 + [Unavailable("ratelimited", retry_after_s=90)]
    ward.lose()
    assert ward.paused == [1, 2, 4, 8, 16, 32, MAX_PAUSE_S, MAX_PAUSE_S, 90]
    ward.paused.clear()
    ward.client.script = [Unavailable("down")]
    ward.lose()
    assert ward.paused == [1]
    ward.line.close()
    assert ward.line.problem is None


def test_a_token_that_slack_refuses_ends_the_start() -> None:
    """Trying again would not help, and the operator is there."""
    ward = Ward(ProviderError("Slack could not open the connection: invalid_auth"))
    with pytest.raises(ProviderError, match="invalid_auth"):
        ward.line.open()


def test_an_outage_at_the_start_is_waited_out() -> None:
    """The bot runs, says so, and connects when it can."""
    ward = Ward(Unavailable("Slack could not be reached"))
    ward.line.open()
    assert ward.client.connected.wait(WAIT_S)
    ward.line.close()


def test_nothing_is_heard_on_a_session_that_could_not_be_noted() -> None:
    """A full disk: the message is not taken, and is once there is space."""
    ward = Ward()
    ward.full = True
    ward.line.open()
    with pytest.raises(StoreError):
        ward.line.heard()
    ward.line.check()
    ward.full = False
    ward.line.heard()
    assert ward.noted == 1
    ward.line.close()


def test_no_connection_outlives_its_end(ward: Ward) -> None:
    """A session made while it was closed is closed, too."""
    ward.line.close()
    assert not ward.client.is_connected()
    assert not any(thread.name == "lifeline" for thread in threading.enumerate())


class WithoutEnd(Queue[Any]):
    """A queue whose reader waits until there is something, however short a time it meant to wait."""

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        return super().get(block)


def test_closing_an_idle_client_wakes_what_waits_for_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's own close takes a second: so long its reader waits for the next message."""
    monkeypatch.setattr("slack_sdk.socket_mode.builtin.client.Queue", WithoutEnd)
    client = SocketClient("xapp-1")
    closing = threading.Thread(target=client.close, daemon=True)
    closing.start()
    closing.join(WAIT_S)
    assert not closing.is_alive()


class BegunWhileClosing(FakeSession):
    """A session whose reader looks whether it is active just before it is closed, and begins just after."""

    def __init__(self, client: SocketClient) -> None:
        super().__init__()
        self.client, self.looked, self.begun = client, threading.Event(), threading.Event()

    def is_active(self) -> bool:
        self.looked.set()
        while not self.client.current_session_state.terminated:
            time.sleep(0.001)
        return True

    def close(self) -> None:
        self.client.current_session_state.terminated = True

    def run_until_completion(self, state: Any) -> None:
        """As the SDK does: until the mark is set."""
        self.begun.set()
        while not state.terminated:
            time.sleep(0.001)

    session_id = "s1"


def test_a_reader_that_begins_while_the_client_closes_ends() -> None:
    """The SDK's reader removes the mark that ends it; the SDK's close then waited for it without end."""
    client = SocketClient("xapp-1")
    session = BegunWhileClosing(client)
    client.current_session = session  # type: ignore[assignment]
    assert session.looked.wait(WAIT_S)
    closing = threading.Thread(target=client.close, daemon=True)
    closing.start()
    closing.join(WAIT_S)
    assert session.begun.is_set()
    assert not closing.is_alive()
