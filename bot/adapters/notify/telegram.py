"""Port Surface over a Telegram bot: plain text messages, edited in place.

The bot's token is part of the address, so no error of the HTTP library may be shown or chained.
Source: https://core.telegram.org/bots/api#sendmessage
"""

from __future__ import annotations

from typing import Any, Final

import requests
from pydantic import SecretStr

from bot.domain.heartbeats.alerts import Alert, Posted, removal_words
from bot.domain.severity import SIGNS, WORDS
from bot.domain.text.humanize import ordinal
from bot.errors import ProviderError, Unavailable, Unconfirmed

API_URL: Final = "https://api.telegram.org"
TIMEOUT_S: Final = 20
MESSAGE_CHARS: Final = 4_096
NOT_MODIFIED: Final = "message is not modified"
"""The code of an edit that changes nothing, which is what was wanted; Telegram itself has only words for it."""


class TelegramSurface:
    """Sends alerts as a bot; `to` is a chat id."""

    def __init__(self, token: SecretStr, *, api_url: str = API_URL) -> None:
        self._token, self._api_url = token, api_url

    def send(self, to: str, alert: Alert) -> Posted:
        """Send an alert and return where it stands.

        Raises:
            ProviderError: Telegram refused it; Unavailable where trying again helps, Unconfirmed where nobody can tell.
        """
        answer = self._call("sendMessage", chat_id=to, text=alert_text_plain(alert), disable_web_page_preview=True)
        return Posted(place=to, reference=str(answer.get("message_id", "")))

    def update(self, to: str, posted: Posted, alert: Alert) -> None:
        """Change an alert in place; raises as `send` does."""
        try:
            self._call("editMessageText", chat_id=to, message_id=posted.reference, text=alert_text_plain(alert))
        except ProviderError as error:
            if error.code != NOT_MODIFIED:
                raise

    def _call(self, method: str, **fields: Any) -> dict[str, Any]:
        url = f"{self._api_url}/bot{self._token.get_secret_value()}/{method}"
        try:
            answer = requests.post(url, json=fields, timeout=TIMEOUT_S, allow_redirects=False)
            body = answer.json()
        except requests.ConnectTimeout:
            raise Unavailable("Telegram cannot be reached") from None  # its text holds the token
        except requests.RequestException:
            raise Unconfirmed("Telegram did not confirm the message") from None
        if answer.ok and isinstance(body, dict) and body.get("ok"):
            result = body.get("result")
            return result if isinstance(result, dict) else {}
        raise _refusal(answer.status_code, body if isinstance(body, dict) else {})


def alert_text_plain(alert: Alert) -> str:
    """Return an alert as plain text, at most 4,096 characters."""
    finding = alert.finding
    is_finding = finding is not None or bool(alert.listed)
    severity = alert.severity
    lead = f"{SIGNS[severity]} {WORDS[severity]}: " if severity else "✅ Resolved: " if is_finding else "ℹ️ "
    if finding is not None and finding.removed is not None:
        lead = f"➖ Closed ({removal_words(finding.removed)}): "
    times = f" · {ordinal(alert.times_today)} time today" if severity and alert.times_today > 1 else ""
    about = f"{alert.session_name}{times}"
    parts = [f"{lead}{alert.text.lstrip()}", alert.reasoning or "", *alert.notes, about]
    text = "\n\n".join(part for part in parts if part)
    return text if len(text) <= MESSAGE_CHARS else text[: MESSAGE_CHARS - 1] + "…"


def _refusal(status: int, body: dict[str, Any]) -> ProviderError:
    """Return what Telegram said no to."""
    said = str(body.get("description") or f"HTTP {status}")[:200]
    wait = (body.get("parameters") or {}).get("retry_after")
    retry_after_s = float(wait) if isinstance(wait, int | float) else None
    if status == requests.codes.too_many_requests or status >= requests.codes.server_error:
        return Unavailable(f"Telegram refused for now: {said}", retry_after_s=retry_after_s)
    code = NOT_MODIFIED if NOT_MODIFIED in said else None
    return ProviderError(f"Telegram refused: {said}; check `deliver.to` and TELEGRAM_BOT_TOKEN", code=code)
