"""App Home: publishes the page when somebody opens it, updates it for a while, and answers clicks made on it.

Who may approve is asked anew each time, so a page that stays open loses its drafts when the person loses the right.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Any, Final

from slack_bolt import Ack
from slack_sdk import WebClient

from blocks.elements import with_spoken_names
from blocks.views.home_view import HomeData, Notice, TeamHome, home_view
from bot.casework.approvers import Approvers
from bot.errors import StoreError, TriageError, Unavailable
from bot.ports import Clock
from bot.ports.collections import SingleDocument
from handlers.buttons.decision_handler import Click, team_of
from handlers.direct_messages import PROMPTS, NativeSigns
from handlers.transport.slack_clients import translate_slack_errors

log = logging.getLogger(__name__)

Body = dict[str, Any]
RunSession = Callable[[Click], str]
"""Asks for a beat of the session a button names, if whoever clicked may; raises TriageError with a text for them."""

KEPT_FRESH: Final = timedelta(hours=1)
"""How long after it was opened or clicked a page is kept up to date; Slack does not say when it is closed."""

NOTICE_KEPT: Final = timedelta(minutes=5)
MAX_VIEWERS: Final = 50
MAX_MARKS: Final = 500
TRIES_IN_VAIN: Final = 2
"""After so many pages for which Slack could not be reached the rest waits for the next look: each may take a minute."""


@dataclass(slots=True)
class _Page:
    """What somebody has before them: since when, as which JSON, what they were told; `mark` tells it from others'."""

    at: datetime
    mark: str
    shown: str = ""
    notice: Notice | None = None
    was_elsewhere: bool = False
    """Whether another replica showed it until now, which may be about to do so once more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HomeTeam:
    """What one team has on the page: `look` reads what it shows, `has_session` knows its sessions by id.

    `owned` names the sessions that belong to a user.
    """

    name: str
    look: Callable[[], HomeData]
    approvers: Approvers
    run_session: RunSession
    has_session: Callable[[str], bool]
    owned: Callable[[str], frozenset[str]]


class HomeTab:
    """The listener of `app_home_opened` and of the sessions' buttons.

    With several teams everybody sees those they belong to; with one, everybody of the workspace sees it. Of replicas,
    the one that heard of somebody last keeps their page; `pages` has its mark, by their id.
    """

    def __init__(self, client: WebClient, clock: Clock, *, team_id: str, pages: SingleDocument | None = None) -> None:
        self._client, self._clock, self._team_id, self._marks = client, clock, team_id, _Marks(pages)
        self._signs = NativeSigns(client)
        self._teams: dict[str, HomeTeam] = {}
        self._pages: OrderedDict[str, _Page] = OrderedDict()
        self._lock, self._turning = threading.Lock(), threading.Lock()
        self._wanted, self._publishing = threading.Event(), threading.Lock()

    def add(self, team: HomeTeam) -> None:
        """Show a team from now on."""
        self._teams = {**self._teams, team.name: team}

    def remove(self, name: str) -> None:
        """Show a team no more."""
        self._teams = {key: team for key, team in self._teams.items() if key != name}

    def _teams_of(self, user: str) -> list[HomeTeam]:
        teams = list(self._teams.values())
        return teams if len(teams) == 1 else [one for one in teams if self._is_of(one, user) or one.owned(user)]

    def _is_of(self, team: HomeTeam, user: str) -> bool:
        return team.approvers.belongs(user, self._team_id)

    def _knows(self, user: str, workspace: str) -> bool:
        """Whether somebody is of our workspace, which is the same for all teams."""
        return any(team.approvers.knows(user, workspace) for team in self._teams.values())

    def opened(self, body: Body, event: Body) -> None:
        """Publish the page for whoever opened it, of our own workspace."""
        user, tab = event.get("user"), event.get("tab", "home")
        if tab not in ("home", "messages") or not isinstance(user, str) or not self._knows(user, team_of(body)):
            return
        if tab == "messages":
            self._suggest(user, str(event.get("channel")))
            return
        for team in self._teams_of(user):
            team.approvers.allow(user, self._team_id)  # asked in full: the page shows whole drafts
        self._turn_to(user, None)
        self.refresh()

    def _suggest(self, user: str, channel: str) -> None:
        """Offer prompts in somebody's direct messages, those for their own sessions first."""
        owned = sorted(name for team in self._teams.values() for name in team.owned(user))
        self._signs.suggest(channel, (*((f"How is {name}?", f"how is {name}?") for name in owned), *PROMPTS))

    def run_now(self, ack: Ack, body: Body, action: Body) -> None:
        """Ask for a beat of a session."""
        ack()
        click = Click.of(body, action)
        try:
            teams = list(self._teams.values())
            owner = next((one for one in teams if one.has_session(str(click.value))), teams[0])
            said = owner.run_session(click)
        except TriageError as error:
            log.info("a click was refused: %s", error, extra={"action": "click_refused"})
            said = str(error)
        self.say(*click.who, said)

    def say(self, user: str, team: str, text: str, about: str = "") -> None:
        """Tell somebody of our workspace something on top of their page, and bring all pages up to date at once.

        `about` is the question it is about, for who may approve.
        """
        if self._knows(user, team):
            self._turn_to(user, Notice(text=text, at=self._clock.now(), about=about))
        self.refresh()

    def tick(self) -> None:
        """Publish anew for whoever opened it lately and has an outdated page."""
        self.refresh()

    def refresh(self) -> None:
        """Bring the pages up to date; a page that did not change is not published.

        One thread does this at a time, and the others do not wait: whoever is at it begins again, so that a Slack that
        answers slowly holds up one click and not all of them.
        """
        self._wanted.set()
        while self._wanted.is_set() and self._publishing.acquire(blocking=False):
            try:
                self._wanted.clear()
                self._publish_all()
            finally:
                self._publishing.release()

    def _turn_to(self, user: str, notice: Notice | None) -> None:
        """Note that somebody has the page before them, and is to see it anew."""
        page = _Page(self._clock.now(), token_hex(4), notice=notice)
        with self._turning:
            before = self._pages.get(user)
            page.was_elsewhere = self._marks.note(user, page.mark) not in (None, before and before.mark)
            with self._lock:  # only now: a page without its mark is taken for another replica's
                self._pages[user] = page
                self._pages.move_to_end(user)
                while len(self._pages) > MAX_VIEWERS:
                    self._pages.popitem(last=False)

    def _publish_all(self) -> None:
        """Publish what is outdated, first for whoever opened or clicked last."""
        now = self._clock.now()
        with self._lock:
            for user in [user for user, page in self._pages.items() if page.at < now - KEPT_FRESH]:
                del self._pages[user]
            pages = list(reversed(self._pages.items()))
        if not pages:
            return
        marks = self._marks.read()
        homes = _Homes()
        in_vain = 0
        for user, page in pages:
            if marks.get(user, page.mark) != page.mark:
                self._leave(user, page)
                continue
            try:
                self._publish(user, page, homes, now)
            except TriageError as error:
                log.warning("a home was not published", extra={"action": "home_unpublished"}, exc_info=True)
                in_vain += isinstance(error, Unavailable)
            if in_vain == TRIES_IN_VAIN:
                return

    def _leave(self, user: str, page: _Page) -> None:
        """Forget a page that another replica has shown since."""
        with self._lock:
            if self._pages.get(user) is page:
                del self._pages[user]

    def _publish(self, user: str, page: _Page, homes: _Homes, now: datetime) -> None:
        notice = page.notice if page.notice and now - page.notice.at < NOTICE_KEPT else None
        is_alone = len(self._teams) == 1
        seen = [
            TeamHome(
                name="" if is_alone else team.name,
                home=homes.of(team),
                may_approve=team.approvers.may_see(user, self._team_id),
                only=None if is_alone or self._is_of(team, user) else team.owned(user),
            )
            for team in self._teams_of(user)
        ]
        if is_alone and seen[0].home is None:
            return
        view = home_view(seen, user=user, notice=notice)
        with_spoken_names(view.blocks or [], by_part=True)
        text = json.dumps(view.to_dict(), sort_keys=True)
        if text == page.shown:
            return
        with translate_slack_errors("publish the home"):
            self._client.views_publish(user_id=user, view=view)
        page.shown = "" if page.was_elsewhere else text
        page.was_elsewhere = False


class _Marks:
    """Which page of each person was shown last, by whichever replica; no document: there is one process."""

    def __init__(self, document: SingleDocument | None) -> None:
        self._document = document

    def note(self, user: str, mark: str) -> object:
        """Have the others leave somebody's page to this one; return the mark before, None where there was none."""
        if self._document is None:
            return None
        try:
            return self._document.keep_newest({user: mark}, at_most=MAX_MARKS).get(user)
        except StoreError:
            log.warning("another replica may change a home", extra={"action": "home_unmarked"}, exc_info=True)
            return None

    def read(self) -> Mapping[str, Any]:
        """Return the marks; none where they cannot be read now."""
        try:
            return {} if self._document is None else self._document.read()
        except StoreError:
            return {}


class _Homes:
    """What each team's part shows, read once for all who look at it; None where it cannot be read now."""

    def __init__(self) -> None:
        self._read: dict[str, HomeData | None] = {}

    def of(self, team: HomeTeam) -> HomeData | None:
        """Return it."""
        if team.name not in self._read:
            try:
                self._read[team.name] = team.look()
            except TriageError:
                log.warning("a home cannot be read", extra={"action": "home_unread"}, exc_info=True)
                self._read[team.name] = None
        return self._read[team.name]
