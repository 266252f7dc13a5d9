"""Telegram and webhooks: what is sent, what a refusal means, and that no address or token is ever repeated."""

from __future__ import annotations

import json
import traceback
from datetime import UTC, datetime

import pytest
import requests
import responses
from pydantic import SecretStr

from bot.adapters.notify import TelegramSurface, WebhookSurface
from bot.domain.heartbeats.alerts import Alert, OpenFinding
from bot.errors import ProviderError, Unavailable, Unconfirmed
from tests.endless_host import endless_host
from tests.tables import each_row

AT = datetime(2026, 11, 21, 3, 12, tzinfo=UTC)
TOKEN = "123456:very-secret"
URL = "https://hooks.example.com/T0/very-secret"
FINDING = OpenFinding(key="shop/ci/main-red", task="ci", text="Main is red.", first_at=AT, last_at=AT)
ALERT = Alert(session_id="shop", session_name="Shop", text="Main is red.", finding=FINDING, at=AT)
FINE = ALERT.evolve(text="OK: no problem found in Shop.", finding=None, is_well=True)
SENT = f"https://api.telegram.org/bot{TOKEN}/sendMessage"


@pytest.fixture
def telegram() -> TelegramSurface:
    return TelegramSurface(SecretStr(TOKEN))


@responses.activate
def test_telegram_gets_plain_text_and_says_where_it_stands(telegram: TelegramSurface) -> None:
    """No markup that a draft could break."""
    responses.post(SENT, json={"ok": True, "result": {"message_id": 42}})
    assert telegram.send("77", ALERT) == [("77", "42")]
    body = json.loads(responses.calls[0].request.body)
    assert body["chat_id"] == "77"
    assert body["text"] == "🟠 Act: Main is red.\n\nShop"
    assert "parse_mode" not in body


@responses.activate
def test_an_edit_that_changes_nothing_is_no_refusal(telegram: TelegramSurface) -> None:
    """An alert that stands is brought up to date by every beat."""
    said = {"ok": False, "description": "Bad Request: message is not modified: specified new message content"}
    responses.post(f"https://api.telegram.org/bot{TOKEN}/editMessageText", json=said, status=400)
    telegram.update(("77", "42"), ALERT)
    assert len(responses.calls) == 1


@responses.activate
def test_telegram_changes_a_message_in_place(telegram: TelegramSurface) -> None:
    """A resolved finding says so at its first glance."""
    responses.post(f"https://api.telegram.org/bot{TOKEN}/editMessageText", json={"ok": True, "result": True})
    gone = ALERT.model_copy(update={"finding": FINDING.evolve(resolved_at=AT)})
    telegram.update(("77", "42"), gone)
    body = json.loads(responses.calls[0].request.body)
    assert (body["message_id"], body["text"].splitlines()[0]) == ("42", "✅ Resolved: Main is red.")


@responses.activate
@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, {"ok": False, "description": "Too Many Requests", "parameters": {"retry_after": 7}}, Unavailable),
        (502, {"ok": False, "parameters": {"retry_after": 10**400}}, Unavailable),
        (403, {"ok": False, "description": "bot was blocked by the user"}, ProviderError),
        (200, {"ok": False, "description": "odd"}, ProviderError),
        (200, [1], ProviderError),
    ],
)
def test_telegrams_refusals_say_who_must_act(
    telegram: TelegramSurface, status: int, body: object, kind: type[ProviderError]
) -> None:
    """429 says when to come back."""
    responses.post(SENT, json=body, status=status)
    with pytest.raises(kind) as caught:
        telegram.send("77", ALERT)
    assert type(caught.value) is kind
    assert caught.value.retry_after_s == (7.0 if status == 429 else None)


@responses.activate
@pytest.mark.parametrize(
    "broken", [requests.ConnectionError(TOKEN), requests.ReadTimeout(TOKEN), requests.ConnectTimeout(TOKEN)]
)
def test_no_traceback_holds_telegrams_token_or_a_webhooks_address(
    telegram: TelegramSurface, broken: requests.RequestException
) -> None:
    """The libraries' errors carry the address; ours are not chained to them."""
    responses.post(SENT, body=broken)
    responses.post(URL, body=type(broken)(URL))
    for send in (lambda: telegram.send("77", ALERT), lambda: WebhookSurface().send(URL, ALERT)):
        with pytest.raises(Unavailable) as caught:
            send()
        assert "very-secret" not in "".join(traceback.format_exception(caught.value))
        assert isinstance(caught.value, Unconfirmed) is not isinstance(broken, requests.ConnectTimeout)


@responses.activate
def test_a_webhook_gets_one_object_that_says_how_the_finding_stands() -> None:
    """The same id for its end; that it still stands is not posted, for each post may ring."""
    responses.post(URL)
    [posted] = WebhookSurface().send(URL, ALERT)
    WebhookSurface().update((URL, posted[1]), ALERT)
    WebhookSurface().update((URL, posted[1]), ALERT.model_copy(update={"finding": FINDING.evolve(resolved_at=AT)}))
    first, second = (json.loads(call.request.body) for call in responses.calls)
    assert (first["status"], second["status"]) == ("open", "resolved")
    assert first["id"] == second["id"]
    assert first["headline"] == "Main is red."
    assert "very-secret" not in repr(posted)


@each_row("alert, status", [(ALERT, "open"), (FINE, "ok"), (FINE.evolve(is_well=False), "notice")])
@responses.activate
def test_a_webhook_hears_ok_only_of_what_is_well(alert: Alert, status: str) -> None:
    """That a playbook was deleted or a session pauses is about no finding, and nothing to be calm about."""
    responses.post(URL)
    WebhookSurface().send(URL, alert)
    assert json.loads(responses.calls[0].request.body)["status"] == status


@each_row("status, kind", [(404, ProviderError), (302, ProviderError), (503, Unavailable), (429, Unavailable)])
@responses.activate
def test_a_webhook_that_refuses_is_not_taken_for_told(status: int, kind: type[ProviderError]) -> None:
    """A redirect neither: it is not followed."""
    responses.post(URL, status=status, headers={"Location": "http://169.254.169.254/"})
    with pytest.raises(kind) as caught:
        WebhookSurface().send(URL, ALERT)
    assert type(caught.value) is kind
    assert len(responses.calls) == 1


def test_what_a_webhook_says_without_end_is_not_read() -> None:
    """Its status is enough, and the next beat waits for nobody."""
    with endless_host() as server:
        WebhookSurface().send(server.url, ALERT)
        assert server.cut_off.wait(60)
