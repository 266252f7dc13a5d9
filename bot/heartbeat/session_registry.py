"""The watched workspace folders: triage.yml's sessions, with what people switched by command laid over them.

Also whose they are, what is remembered of each between beats, its inbox, the wakes that wait for a beat, and
heartbeats.ndjson: the line every beat leaves, whatever happened, and the latest of them read back.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, takewhile
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from bot.config.heartbeat_settings import BeatSettings, SessionSettings
from bot.domain.heartbeats.allowed_commands import FLAGS_COMMAND, Argv, commands_in, is_allowed
from bot.domain.heartbeats.beats import BeatResult, BeatStep, Envelope, Wake, indicator_of
from bot.domain.heartbeats.session_state import InboxMessage, SessionOverride, SessionState, check_session_id
from bot.domain.hours import ActiveHours
from bot.domain.text.humanize import near_ones
from bot.errors import ConfigError, Conflict, InputError, ProviderError, StoreError
from bot.ports import Clock, Documents, Journal, Store, Workspace
from bot.ports.collections import SESSIONS, WAKES, Collection, OnDamage, inbox_of, silently

log = logging.getLogger(__name__)


PLAYBOOK: Final = "HEARTBEAT.md"

NO_SESSIONS: Final = (
    "No sessions are configured. Add one under `sessions:` in triage.yml, then reload or restart triage."
)

LATEST_BYTES: Final = 4 * 1024 * 1024

LONGEST_BEAT: Final = timedelta(hours=1)
"""A beat is written down when it ends, under the time at which it began."""

NEWEST_LINES: Final = 150_000
"""How far back the beats of one session are looked for; about 64 MiB."""

ASK_AGAIN_AFTER: Final = timedelta(hours=1)
"""How long the zone of an owner is not asked for again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """One session, ready to use."""

    id: str
    name: str
    cwd: Path
    owner: str
    """The Slack user or user group (S…) that is told; "" for nobody."""
    is_master: bool
    beat: BeatSettings
    configured: BeatSettings
    """What triage.yml alone says of its beats."""
    override: SessionOverride
    """What people switched by command; `beat` has it in already."""

    def refused_commands(self, *lines: str) -> tuple[Argv, ...]:
        """Return the commands in a task's lines that it does not allow; code itself answers for the flags."""
        named = (argv for argv in commands_in(lines) if argv != FLAGS_COMMAND)
        return tuple(argv for argv in named if not is_allowed(argv, self.beat.commands, self.cwd))


def resolve_session(session_id: str, settings: SessionSettings, override: SessionOverride | None = None) -> Session:
    """Return a session with its overrides applied."""
    switched = override or SessionOverride()
    changes = {key: one.value for key, one in switched if one}
    return Session(
        id=session_id,
        name=settings.name or session_id,
        cwd=settings.cwd,
        owner=settings.owner or "",
        is_master=settings.master,
        beat=settings.heartbeat.model_copy(update=changes),
        configured=settings.heartbeat,
        override=switched,
    )


class SessionRegistry:
    """All sessions, resolved anew only after something changed."""

    def __init__(self, settings: Mapping[str, SessionSettings], overrides: Collection[SessionOverride]) -> None:
        self._settings, self._overrides = settings, overrides
        self._seen: tuple[Mapping[str, SessionSettings], Mapping[str, SessionOverride]] = {}, {}
        self._resolved: dict[str, Session] = {}

    def all(self) -> tuple[Session, ...]:
        """Return every session, in the order of triage.yml."""
        return tuple(self._current().values())

    def names(self) -> dict[str, str]:
        """Return the name of every session by its id."""
        return {session_id: settings.name or session_id for session_id, settings in self._settings.items()}

    def get(self, session_id: str) -> Session:
        """Return one session.

        Raises:
            InputError: there is none of this id; the message names the near ones.
        """
        known = self._current()
        if session_id in known:
            return known[session_id]
        raise InputError(_unknown(session_id, known))

    def replace(self, settings: Mapping[str, SessionSettings]) -> None:
        """Take over what a new triage.yml says."""
        self._settings = settings

    def _current(self) -> dict[str, Session]:
        settings, overrides = now = self._settings, self._overrides.by_id()
        if self._seen != now:
            self._resolved = {name: resolve_session(name, one, overrides.get(name)) for name, one in settings.items()}
            self._seen = now
        return self._resolved


def _unknown(session_id: str, known: Mapping[str, Session]) -> str:
    if not known:
        return NO_SESSIONS
    near = near_ones(session_id, list(known), cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(list(known)[:10])}"
    return f"there is no session {session_id[:40]!r}; {hint}" if session_id else f"name a session; {hint}"


class Owners:
    """Whose a session is, and by whose clock its hours go; without a chat (the terminal) no group has members.

    The chat is asked for the members of user groups and, beside the ticks, for people's zones. Where it cannot say,
    nobody of a group may act, and the machine's zone (`local`) counts.
    """

    def __init__(self, workspace: Workspace | None, clock: Clock, *, local: str) -> None:
        self._workspace, self._clock, self._local = workspace, clock, local
        self._members: dict[str, frozenset[str]] = {}
        self._zones: dict[str, tuple[datetime, str | None]] = {}
        """The zone of each owner, and when the chat was asked for it last."""

    def claim(self, session: Session, user_id: str, channel: str | None = None, *, asks: bool = True) -> str:
        """Return a user who is the owner, or of the group that is, as `Approvers` wants it; "" for anybody else.

        `channel` is where somebody answers an alert: then whoever a page is escalated to (`then`) counts, too, and in a
        private channel that is told next everybody who reads there. `asks=False`: without a request, so of a group
        count those who were in it when last asked.
        """
        to = "" if channel is None else session.beat.then or ""
        is_theirs = (to and channel == to) or any(self._is(who, user_id, asks=asks) for who in (session.owner, to))
        return user_id if is_theirs else ""

    def _is(self, who: str, user_id: str, *, asks: bool = True) -> bool:
        if not who.startswith("S"):
            return who == user_id != ""
        if asks and self._workspace is not None:
            try:
                self._members[who] = self._workspace.members(who)
            except ProviderError:
                log.warning("cannot tell who is in a user group", extra={"action": "owners_unknown"}, exc_info=True)
                return False
        return user_id in self._members.get(who, ())

    def refresh(self, sessions: Iterable[Session]) -> None:
        """Ask the chat for the zones of owners it was not asked for within the hour; keeps what it knew on failure."""
        now, by_owner = self._clock.now(), (s for s in sessions if s.beat.active_hours.timezone == "user")
        for owner in {session.owner for session in by_owner if session.owner and not session.owner.startswith("S")}:
            asked_at, zone = self._zones.get(owner, (None, None))
            if self._workspace is None or (asked_at and timedelta() <= now - asked_at < ASK_AGAIN_AFTER):
                continue
            try:
                zone = self._workspace.person(owner).timezone
            except ProviderError:
                log.warning("cannot learn an owner's zone", extra={"action": "zone_unknown"}, exc_info=True)
            self._zones[owner] = now, zone

    def hours(self, session: Session) -> ActiveHours:
        """Return the session's active hours in the zone that counts now."""
        hours = session.beat.active_hours
        _, of_owner = self._zones.get(session.owner, (None, None))
        named = {"user": of_owner, "local": self._local}.get(hours.timezone, hours.timezone)
        try:
            return ActiveHours(hours.start, hours.end, named or self._local)
        except ConfigError:  # the chat knows a zone that this machine's tables do not
            return ActiveHours(hours.start, hours.end, self._local)


class Asker:
    """Who types a command; on the terminal, as here, somebody who may do everything."""

    def __init__(self, id: str, name: str) -> None:
        self.id, self.name = id, name

    def require(self, refusal: str, session: Session | None = None, *, next_step: str = "") -> None:
        """Return if they are an approver or own the session; raises InputError with `refusal` if not."""

    def may(self, session: Session | None = None) -> bool:
        """Whether `require` would return."""
        try:
            self.require("", session)
        except InputError:
            return False
        return True


class SessionMemory(Collection[SessionState]):
    """Every session's state and inbox; ids are checked: InputError for a bad one, StoreError where the disk refuses.

    One process writes states; others may read them and append to inboxes. A state that cannot be read is set aside;
    beats go on from the defaults, which means more attention, not less.
    """

    load, save = Collection[SessionState].get, Collection[SessionState].change

    def __init__(self, store: Store, *, on_damage: OnDamage = silently) -> None:
        super().__init__(store.documents, SESSIONS, on_damage=on_damage)
        self._journal = store.journal

    def inbox(self, session_id: str) -> list[InboxMessage]:
        """Return the messages after `inbox_read`, which no beat has dealt with, oldest first; bad lines are skipped."""
        state, messages = self.load(session_id), []
        for record in self._journal(inbox_of(session_id)).records():
            try:
                messages.append(InboxMessage.model_validate(record, extra="ignore"))
            except ValidationError:
                continue
        return messages[state.inbox_read :]

    def send(self, message: InboxMessage) -> None:
        """Put a message into the inbox of its `to` and return once it is on disk; it wakes nobody."""
        self.load(message.to)  # what stands in the place of its folder is set aside
        self._journal(inbox_of(message.to)).append(message.model_dump(mode="json"))


class WakeBox:
    """The beats of all sessions that were asked for and have not begun: one document each, `<session>.<wake>`.

    All sessions share the collection, so that a tick looks into one and not into one for each; any process may write
    to it. Where it cannot be read nothing waits, which holds up no interval's beat.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def drop(self, session_id: str, wake: Wake) -> None:
        """Leave a wake; the same one twice is one. Raises InputError for no session's id, StoreError."""
        with suppress(Conflict):
            self._documents.put(WAKES, f"{check_session_id(session_id)}.{wake}", {}, version=0)

    def waiting(self) -> Mapping[str, frozenset[Wake]]:
        """Return what waits, by the session's id; some may be of no session any more."""
        found: dict[str, frozenset[Wake]] = {}
        try:
            for document in self._documents.list(WAKES):
                session_id, _, kind = document.id.partition(".")
                if kind in list(Wake):
                    found[session_id] = found.get(session_id, frozenset()) | {Wake(kind)}
        except StoreError:
            log.exception("wakes cannot be read", extra={"action": "wakes_unread"})
        return found

    def take(self, session_id: str) -> frozenset[Wake]:
        """Remove what waits for a session, and return it; raises StoreError where the disk keeps it."""
        taken = self.waiting().get(session_id, frozenset())
        for wake in taken:
            document = self._documents.get(WAKES, f"{session_id}.{wake}")
            if document is not None:
                with suppress(Conflict):
                    self._documents.remove(WAKES, document.id, version=document.version)
        return taken


class BeatLog:
    """The record of all sessions' beats."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def append(self, envelope: Envelope) -> None:
        """Write one beat's line and return once it is on disk; raises StoreError when the disk refuses."""
        self._journal.append(envelope.model_dump(mode="json"))
        level = logging.DEBUG if envelope.result is BeatResult.SKIPPED else logging.INFO
        log.log(level, "beat: %s", envelope.result, extra={"action": "beat_recorded", "session": envelope.session_id})

    def refused(self, session: Session, wake: Wake, step: BeatStep, why: str, at: datetime) -> None:
        """Write the line of a beat that did not run; raises StoreError when the disk refuses."""
        envelope = Envelope(
            ts=at,
            session_id=session.id,
            workspace_dir=str(session.cwd),
            reason=wake,
            result=BeatResult.SKIPPED,
            indicator=indicator_of(BeatResult.SKIPPED),
            why=why,
            step=step,
        )
        self.append(envelope)

    def recent(self, session_id: str, count: int) -> list[Envelope]:
        """Return the latest beats of a session, newest first; fewer where the last `NEWEST_LINES` hold fewer."""
        return list(islice(self._newest(session_id), count))

    def since(self, session_id: str, at: datetime) -> list[Envelope]:
        """Return a session's beats from a moment on, newest first; fewer where the last `NEWEST_LINES` hold fewer."""
        near = takewhile(lambda beat: beat.ts >= at - LONGEST_BEAT, self._newest(session_id))
        return [beat for beat in near if beat.ts >= at]

    def latest(self, is_wanted: Callable[[Envelope], bool]) -> dict[str, Envelope]:
        """Return the latest beat of every session among the newest lines, of those that are wanted."""
        newest = map(_read, self._journal.records(last_bytes=LATEST_BYTES))
        return {beat.session_id: beat for beat in newest if beat is not None and is_wanted(beat)}

    def _newest(self, session_id: str) -> Iterator[Envelope]:
        records = islice(self._journal.newest_first(), NEWEST_LINES)
        found = (_read(record) for record in records if record.get("session_id") == session_id)
        return (beat for beat in found if beat is not None)


def _read(record: dict[str, object]) -> Envelope | None:
    try:
        return Envelope.model_validate(record, extra="ignore")
    except ValidationError:
        return None
