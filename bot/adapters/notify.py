"""Port Surface for webhooks (one POST of JSON for each alert, and one for its end) and for Telegram.

A webhook's address may hold a secret, and Telegram's holds the bot's token: neither appears in an error, a log or a
record. Source: https://core.telegram.org/bots/api#sendmessage
"""

from __future__ import annotations

from typing import Any, Final

import requests
from pydantic import SecretStr

from bot.domain.alerts import SIGNS, WORDS
from bot.domain.heartbeats.alerts import Alert, Place, finding_digest, headline_of, removal_words
from bot.domain.text.sanitize import without_marks
from bot.errors import ProviderError, Unavailable, Unconfirmed

TIMEOUT_S: Final = 20
LONGEST_ADVICE_S: Final = 86_400

API_URL: Final = "https://api.telegram.org"
MESSAGE_CHARS: Final = 4_096
NOT_MODIFIED: Final = "message is not modified"
"""The code of an edit that changes nothing, which is what was wanted; Telegram itself has only words for it."""


class WebhookSurface:
    """Posts alerts to an address; `to` is an http(s) URL."""

    def send(self, to: str, alert: Alert) -> list[Place]:
        """Post an alert; raises as `_post` does."""
        _post("the webhook", to, _payload_of(alert), reads=False)
        return [("webhook", alert.finding.key if alert.finding else alert.session_id)]

    def update(self, at: Place, alert: Alert) -> None:
        """Post that the finding is gone, under the same `id`; raises as `send` does.

        That it still stands is no news: whatever is behind the address may ring for each post.
        """
        if alert.finding is not None and not alert.finding.is_open:
            self.send(at[0], alert)


def _payload_of(alert: Alert) -> dict[str, Any]:
    """Return an alert as JSON: `{id, session, status, severity, text, headline, task, first_at, at, tier, …}`.

    `status` is open, removed or resolved for a finding, `ok` for the line that all is well, `notice` for any other.
    """
    finding, status = alert.finding, "ok" if alert.is_well else "notice"
    if finding is not None:
        status = "open" if finding.is_open else "removed" if finding.removed else "resolved"
    return {
        "id": f"{alert.session_id}:{finding_digest(finding.key)}" if finding else None,
        "session": alert.session_id,
        "session_name": without_marks(alert.session_name),
        "status": status,
        "severity": alert.severity,
        "headline": without_marks(headline_of(alert.text)),
        "text": without_marks(alert.text),
        "task": without_marks(finding.task) if finding and finding.task else None,
        "first_at": finding.first_at.isoformat() if finding else None,
        "closed": removal_words(finding.removed) if finding and finding.removed else None,
        "at": alert.at.isoformat(),
        "tier": finding.tier if finding else None,
        "reasoning": alert.reasoning and without_marks(alert.reasoning),
        "notes": list(map(without_marks, alert.notes)),
    }


class TelegramSurface:
    """Sends alerts as a bot; `to` is a chat id."""

    def __init__(self, token: SecretStr) -> None:
        self._token = token

    def send(self, to: str, alert: Alert) -> list[Place]:
        """Send an alert and return where it stands; raises as `_post` does."""
        message_id = self._call("sendMessage", chat_id=to, text=_alert_text_plain(alert), disable_web_page_preview=True)
        return [(to, message_id)]

    def update(self, at: Place, alert: Alert) -> None:
        """Change an alert in place; raises as `send` does."""
        try:
            self._call("editMessageText", chat_id=at[0], message_id=at[1], text=_alert_text_plain(alert))
        except ProviderError as error:
            if error.code != NOT_MODIFIED:
                raise

    def _call(self, method: str, **fields: Any) -> str:
        """Return the id of the message, where there is one."""
        result = _post("Telegram", f"{API_URL}/bot{self._token.get_secret_value()}/{method}", fields).get("result")
        return str(result.get("message_id", "")) if isinstance(result, dict) else ""


def _alert_text_plain(alert: Alert) -> str:
    """Return an alert as plain text, at most 4,096 characters."""
    finding = alert.finding
    severity = alert.severity
    lead = f"{SIGNS[severity]} {WORDS[severity]}: " if severity else "✅ Resolved: " if alert.findings else "ℹ️ "
    if finding is not None and finding.removed is not None:
        lead = f"➖ Closed ({removal_words(finding.removed)}): "
    first, *others = map(without_marks, [alert.text.lstrip(), alert.reasoning or "", *alert.notes, alert.session_name])
    text = "\n\n".join(part for part in [f"{lead}{first}", *others] if part)
    return text if len(text) <= MESSAGE_CHARS else text[: MESSAGE_CHARS - 1] + "…"


def _post(who: str, url: str, fields: dict[str, Any], *, reads: bool = True) -> dict[str, Any]:
    """Post JSON and return the body of the answer, where that is read: another's may go on without end.

    Raises:
        ProviderError: the other side refused it; Unavailable where trying again helps, Unconfirmed where nobody can
            tell.
    """
    try:
        with requests.post(url, json=fields, timeout=TIMEOUT_S, allow_redirects=False, stream=True) as answer:
            body = answer.json() if reads else {"ok": True}
    except (requests.ConnectTimeout, requests.exceptions.InvalidURL):
        raise Unavailable(f"{who} cannot be reached") from None  # its text holds the address
    except requests.RequestException:
        raise Unconfirmed(f"{who} did not confirm") from None
    body, status = body if isinstance(body, dict) else {}, answer.status_code
    if status < requests.codes.multiple_choices and body.get("ok"):
        return body
    said = str(body.get("description") or f"HTTP {status}")[:200]
    if status == requests.codes.too_many_requests or status >= requests.codes.server_error:
        wait = (body.get("parameters") or {}).get("retry_after")
        retry_after_s = float(wait) if isinstance(wait, int) and 0 <= wait <= LONGEST_ADVICE_S else None
        raise Unavailable(f"{who} refused for now: {said}", retry_after_s=retry_after_s)
    code = NOT_MODIFIED if NOT_MODIFIED in said else None
    raise ProviderError(f"{who} refused: {said}; check `deliver` and its token", code=code)
