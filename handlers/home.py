"""App Home: published when somebody opens it, and kept up to date for a while as long as it changes.

Who may approve is asked anew each time, so a page that somebody still has open loses its drafts with their right.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from slack_sdk import WebClient

from blocks.home import Home, home_view
from bot.casework.approvers import Approvers
from bot.errors import TriageError
from bot.ports import Clock
from handlers.transport import translated

log = logging.getLogger(__name__)

KEPT_FRESH: Final = timedelta(hours=1)
"""How long after it was opened a page is kept up to date; Slack does not say when it is closed."""
MAX_VIEWERS: Final = 50


class HomeTab:
    """The listener of `app_home_opened`; `look` reads what the page shows."""

    def __init__(
        self, client: WebClient, look: Callable[[], Home], approvers: Approvers, clock: Clock, *, team_id: str
    ) -> None:
        self._client, self._look, self._approvers = client, look, approvers
        self._clock, self._team_id = clock, team_id
        self._viewers: OrderedDict[str, tuple[datetime, str]] = OrderedDict()
        self._lock = threading.Lock()

    def opened(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        """Publish the page for whoever opened it, of our own workspace."""
        user = event.get("user")
        if event.get("tab", "home") != "home" or not isinstance(user, str) or body.get("team_id") != self._team_id:
            return
        with self._lock:
            self._viewers.pop(user, None)
            self._viewers[user] = (self._clock.now(), "")
            while len(self._viewers) > MAX_VIEWERS:
                self._viewers.popitem(last=False)
            self._publish_safely(user, self._look)

    def tick(self) -> None:
        """Publish anew for whoever opened it lately and has an outdated page."""
        with self._lock:
            since = self._clock.now() - KEPT_FRESH
            for user in [user for user, (at, _) in self._viewers.items() if at < since]:
                del self._viewers[user]
            if not self._viewers:
                return
            home = self._look()
            for user in list(self._viewers):
                self._publish_safely(user, lambda: home)

    def _publish_safely(self, user: str, look: Callable[[], Home]) -> None:
        try:
            self._publish(user, look())
        except TriageError:
            log.warning("a home was not published", extra={"action": "home_unpublished"}, exc_info=True)

    def _publish(self, user: str, home: Home) -> None:
        view = home_view(home, may_see_drafts=self._approvers.probably(user, self._team_id))
        at, shown = self._viewers[user]
        text = json.dumps(view.to_dict(), sort_keys=True)
        if text == shown:
            return
        with translated("publish the home"):
            self._client.views_publish(user_id=user, view=view)
        self._viewers[user] = (at, text)
