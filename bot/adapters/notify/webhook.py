"""Port Surface over a webhook: one POST of JSON for each alert, and one for its end.

The address may hold a secret in its path, so it stands in no error, log or record.
"""

from __future__ import annotations

from typing import Any, Final

import requests

from bot.domain.heartbeats.alerts import Alert, Posted, finding_digest, removal_words
from bot.errors import ProviderError, Unavailable, Unconfirmed

TIMEOUT_S: Final = 20


class WebhookSurface:
    """Posts alerts to an address; `to` is an http(s) URL."""

    def send(self, to: str, alert: Alert) -> Posted:
        """Post an alert.

        Raises:
            ProviderError: the other side refused it; Unavailable where trying again helps, Unconfirmed where nobody
                can tell.
        """
        self._post(to, alert)
        return Posted(place="webhook", reference=alert.finding.key if alert.finding else alert.session_id)

    def update(self, to: str, posted: Posted, alert: Alert) -> None:  # noqa: ARG002 - the receiver goes by the id
        """Post that the finding is gone, under the same `id`; raises as `send` does.

        That it still stands is no news: whatever is behind the address may ring for each post.
        """
        if alert.finding is not None and not alert.finding.is_open:
            self._post(to, alert)

    def _post(self, url: str, alert: Alert) -> None:
        try:
            answer = requests.post(url, json=payload_of(alert), timeout=TIMEOUT_S, allow_redirects=False)
        except (requests.ConnectTimeout, requests.exceptions.InvalidURL):
            raise Unavailable("the webhook cannot be reached") from None  # its text holds the address
        except requests.RequestException:
            raise Unconfirmed("the webhook did not confirm") from None
        if answer.ok and not answer.is_redirect:
            return
        problem = f"the webhook answered HTTP {answer.status_code}"
        if answer.status_code == requests.codes.too_many_requests or answer.status_code >= requests.codes.server_error:
            raise Unavailable(problem)
        raise ProviderError(f"{problem}; check `deliver.to`")


def payload_of(alert: Alert) -> dict[str, Any]:
    """Return an alert as JSON: `{id, session, status, severity, text, headline, task, first_at, at, wake, tier, …}`."""
    finding = alert.finding
    status = "ok" if finding is None else "open" if finding.is_open else "removed" if finding.removed else "resolved"
    return {
        "id": f"{alert.session_id}:{finding_digest(finding.key)}" if finding else None,
        "session": alert.session_id,
        "session_name": alert.session_name,
        "status": status,
        "severity": alert.severity,
        "times_today": alert.times_today,
        "headline": alert.headline,
        "text": alert.text,
        "task": finding.task if finding else None,
        "first_at": finding.first_at.isoformat() if finding else None,
        "closed": removal_words(finding.removed) if finding and finding.removed else None,
        "at": alert.at.isoformat(),
        "wake": alert.wake,
        "tier": alert.tier,
        "reasoning": alert.reasoning,
        "notes": list(alert.notes),
    }
