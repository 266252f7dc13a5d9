"""Names every collection, journal and lease, and reads documents as values that are written only if unchanged.

A document holds a `schema_version`; one without it is of version 1. An earlier one is converted as it is read
(bot/ports/migrations.py), a later one is refused. Fields that this version does not know are written back. A damaged
document is set aside and reported, and reads as absent. Threads are read and changed through bot/ports/threads.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.domain.frozen_value import KeepsUnknownFields
from bot.domain.heartbeats.session_state import SessionOverride, SessionState, check_session_id
from bot.domain.questions.autonomy_record import AutoReply, check_auto_reply_id
from bot.domain.questions.feedback import Feedback, check_feedback_id
from bot.domain.threads import CardShown, ThreadState, check_thread_id
from bot.errors import Conflict, InputError
from bot.ports.migrations import migrated, sealed
from bot.ports.storage import ArchivedDocument, Document, Documents

_VERSION: Final = "version"

Model = TypeVar("Model", bound=BaseModel)
OnDamage = Callable[[str], None]
"""Gets where a document that cannot be read was set aside; it must return at once."""

WAKES: Final = "wakes"
"""Beats that were asked for and have not begun: `<session>.<wake>` (bot/heartbeat/session_registry.py)."""

# Collections of one document each (SingleDocument), as what writes them defines it.
PAUSE: Final = "pause"
"""Who paused all work, and since when (bot/casework/pause.py)."""

PRESENCE: Final = "presence"
"""Whether the process lives and hears Slack (bot/intake/presence.py)."""

GAPS: Final = "gaps"
"""Since when something may be missing in which chat (bot/intake/gaps.py)."""

BRIEFS: Final = "briefs"
"""Which brief was said last, and when (bot/casework/reports/daily_brief.py)."""

HANDED_OVER: Final = "handed_over"
"""Which team has what one team left, where replicas share that (bot/composition/team_homes.py)."""

INDEX: Final = "index"
"""How far the passage index is, and why the code cannot be searched (bot/casework/reports/code_standings.py)."""

CLONES: Final = "clones"
"""How fresh each clone is (bot/casework/reports/code_standings.py); of this machine, as the clones are."""

TASK_LISTS: Final = "task_lists"
"""Which list of tasks each person saw last (bot/heartbeat/task_commands.py)."""

REMOVED_CHECKS: Final = "removed_checks"
"""Who took which check out of a playbook last (bot/heartbeat/)."""

AUTONOMY: Final = "autonomy"
"""Whether automatic replies are armed, and by whom (bot/domain/questions/autonomy.py)."""

PEOPLE: Final = "people"
"""What people and channels are called, by Slack id (handlers/transport/name_book.py)."""

HOMES: Final = "homes"
"""Which replica showed somebody App Home last (handlers/home.py)."""

MOVED: Final = "moved"
"""Where the state moved that was kept here, or that a copy is not finished (bot/composition/state_move.py)."""

# Journals.
EVENTS: Final = "events"
"""Every message that counts, before it is acknowledged."""

CLASSIFIED: Final = "events-classified"
"""The same with the rules' findings."""

REPLIES: Final = "replies"
"""What was posted, by whom approved, on what evidence."""

HEARTBEATS: Final = "heartbeats"
"""Each beat, and each due slot that was refused."""

SPEND: Final = "spend"
"""What model runs cost."""

REMINDERS: Final = "reminders"
"""Which cards were named as waiting."""

JUDGEMENTS: Final = "judgements"
"""What people said of messages the rules left alone."""

# Leases.
HOME: Final = "home"
"""Of the one bot on a data directory."""

DECISIONS: Final = "decisions"
"""Of whoever appends to decisions.md; in a database, the journal that stands for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CollectionSpec(Generic[Model]):
    """What stands in a collection. `check_id` raises InputError for an id that is none.

    Its model is frozen: a value is read once and handed out again and again. One with a field `version` gets the
    document's version in it.
    """

    name: str
    model: type[Model]
    check_id: Callable[[str], str]
    default: Callable[[], Model] | None = None
    """Makes what a document that is not there stands for, and what is not written."""
    unknown: str = ""
    """What to say of an id nobody wrote, where there is no default."""
    id_in: Callable[[Model], str] | None = None
    """The id that stands in the document itself: one copied under another name is damage."""
    order: Callable[[Model], Any] | None = None
    """What `all` sorts by, instead of the id."""


THREADS: Final = CollectionSpec(
    name="threads",
    model=ThreadState,
    check_id=check_thread_id,
    unknown="there is no thread {id}",
    id_in=lambda one: one.thread_id,
    order=lambda one: one.started_at,
)
SESSIONS: Final = CollectionSpec(name="sessions", model=SessionState, check_id=check_session_id, default=SessionState)
OVERRIDES: Final = CollectionSpec(
    name="overrides", model=SessionOverride, check_id=check_session_id, default=SessionOverride
)
CARDS_SHOWN: Final = CollectionSpec(name="cards_shown", model=CardShown, check_id=check_thread_id, default=CardShown)
AUTO_REPLIES: Final = CollectionSpec(
    name="auto_replies",
    model=AutoReply,
    check_id=check_auto_reply_id,
    unknown="This reply is more than 8 weeks old; nothing was changed.",
    id_in=lambda one: one.id,
    order=lambda one: one.at,
)
FEEDBACK: Final = CollectionSpec(
    name="feedback",
    model=Feedback,
    check_id=check_feedback_id,
    unknown="This reply is not on file any more; nothing was counted.",
    id_in=lambda one: one.id,
)


def inbox_of(session_id: str) -> str:
    """Return the name of the journal of messages to a session, which beats read (session_registry.py)."""
    return f"inbox/{session_id}"


def silently(_: str) -> None:
    """Report nothing."""


class Collection(Generic[Model]):
    """The values of one collection; every method raises StoreError where the disk refuses, and InputError for no id."""

    def __init__(self, documents: Documents, spec: CollectionSpec[Model], *, on_damage: OnDamage = silently) -> None:
        self._documents, self._spec, self._on_damage = documents, spec, on_damage
        self._parsed: dict[str, tuple[Document, Model]] = {}

    def find(self, doc_id: str) -> Model | None:
        """Return what is stored, or None."""
        return self._find(doc_id)[0]

    def get(self, doc_id: str) -> Model:
        """Return what is stored, or the default; raises InputError where there is neither."""
        return self._or_default(doc_id, self.find(doc_id))

    def by_id(self) -> dict[str, Model]:
        """Return every value by its id; what has no id of this collection is none of it."""
        found = self._documents.list(self._spec.name)
        for gone in set(self._parsed) - {one.id for one in found}:
            self._parsed.pop(gone, None)
        return self._values(found)

    def all(self) -> list[Model]:
        """Return every value, in the collection's order."""
        return self._in_order(self.by_id().values())

    def where(self, field: str, value: str) -> list[Model]:
        """Return the values that are stored with this text in a field of their own, in the collection's order."""
        return self._in_order(self._values(self._documents.find(self._spec.name, field, value)).values())

    def add(self, doc_id: str, value: Model) -> bool:
        """Store a new value; False where one of this id is stored, which stays."""
        with suppress(Conflict):
            self.put(doc_id, value, version=0)
            return True
        return False

    def change(self, doc_id: str, change: Callable[[Model], Model]) -> Model:
        """Store what `change` makes of a value, or of the default, and return it; no change overwrites another.

        `change` is called again where somebody was faster. What it raises goes through, and nothing is changed; so
        does the InputError of `get`.
        """
        while True:
            stored, version = self._find(doc_id)
            after = change(before := self._or_default(doc_id, stored))
            if after == before:
                return before
            with suppress(Conflict):
                if self._spec.default is not None and after == self._spec.default():
                    self._documents.remove(self._spec.name, doc_id, version=version)
                else:
                    self.put(doc_id, after, version=version)
                return after

    def evolve(self, doc_id: str, **changes: Any) -> Model:
        """Replace fields of a value, or of the default, and return it; raises as `change`."""
        return self.change(doc_id, lambda now: now.model_copy(update=changes))

    def put(self, doc_id: str, value: Model, *, version: int) -> None:
        """Store a value if `version` is still the stored one, 0 where there must be none; raises Conflict."""
        written = value.model_dump(mode="json", exclude={_VERSION})
        self._documents.put(self._spec.name, self._spec.check_id(doc_id), sealed(written), version=version)

    def remove(self, doc_id: str) -> None:
        """Remove a value; harmless where there is none."""
        while (document := self._documents.get(self._spec.name, self._spec.check_id(doc_id))) is not None:
            with suppress(Conflict):
                self._documents.remove(self._spec.name, doc_id, version=document.version)

    def parse(self, document: Document) -> Model | None:
        """Return a document as a value; None where it is none. Raises NewerSchema."""
        version = {_VERSION: document.version} if _VERSION in self._spec.model.model_fields else {}
        content = migrated(self._documents, self._spec.name, document)
        if content is None:
            return None
        try:
            value = self._spec.model.model_validate({**content, **version}, extra="allow")
        except ValidationError:
            return None
        return value if self._spec.id_in is None or self._spec.id_in(value) == document.id else None

    def parsed(self) -> dict[str, Model | None]:
        """Return every value by its id, None for what is none: nothing is set aside. Raises NewerSchema."""
        return {one.id: self.parse(one) for one in self._documents.list(self._spec.name)}

    def parse_archived(self, archived: ArchivedDocument) -> Model | None:
        """Return an archived document as a value; None where it is none, or is gone."""
        document = self._documents.read_archived(self._spec.name, archived)
        return None if document is None else self.parse(document)

    def _values(self, found: Iterable[Document]) -> dict[str, Model]:
        values = {}
        for one in found:
            with suppress(InputError):
                if (value := self._read(one)) is not None:
                    values[self._spec.check_id(one.id)] = value
        return values

    def _in_order(self, values: Iterable[Model]) -> list[Model]:
        return sorted(values, key=self._spec.order) if self._spec.order else list(values)

    def _find(self, doc_id: str) -> tuple[Model | None, int]:
        document = self._documents.get(self._spec.name, self._spec.check_id(doc_id))
        value = self._read(document) if document is not None else None
        return value, document.version if document is not None and value is not None else 0

    def _read(self, document: Document) -> Model | None:
        """Return a document as a value, validated once; None where it is none, and then it is set aside."""
        seen, value = self._parsed.get(document.id, (None, None))
        if seen is not document and (seen is None or (seen.version, seen.value) != (document.version, document.value)):
            value = self.parse(document)
        if value is None:
            self._parsed.pop(document.id, None)
            if where := self._documents.set_aside(self._spec.name, document.id):
                self._on_damage(where)
            return None
        self._parsed[document.id] = document, value
        return value

    def _or_default(self, doc_id: str, stored: Model | None) -> Model:
        if stored is not None:
            return stored
        if self._spec.default is None:
            raise InputError(self._spec.unknown.format(id=doc_id))
        return self._spec.default()


def read_value(documents: Documents, collection: str, model: type[Model]) -> Model | None:
    """Return the one document of a collection as a value, for who only looks; None where it is none. Raises StoreError.

    Nothing is set aside.
    """
    return Collection(documents, CollectionSpec(name=collection, model=model, check_id=str)).parsed().get(collection)


class _Keys(KeepsUnknownFields):
    model_config = ConfigDict(frozen=True, extra="allow")


class SingleDocument:
    """The one document of a collection, as a JSON object; keys that nobody names stay."""

    def __init__(self, documents: Documents, collection: str, *, on_damage: OnDamage = silently) -> None:
        spec = CollectionSpec(name=collection, model=_Keys, check_id=str, default=_Keys)
        self._documents, self._name = Collection(documents, spec, on_damage=on_damage), collection

    def read(self) -> Mapping[str, Any]:
        """Return what was written last; an empty object where nothing was, or where it cannot be read.

        Raises:
            StoreError: the disk refuses, or (NewerSchema) a later version of triage wrote it.
        """
        found = self._documents.find(self._name)
        return (found.model_extra if found else None) or {}

    def update(self, keys: Mapping[str, Any]) -> None:
        """Set these keys and return once they are on disk; raises StoreError and changes nothing."""
        self.change(lambda now: {**now, **keys})

    def keep_newest(self, keys: Mapping[str, Any], *, at_most: int) -> Mapping[str, Any]:
        """Set these keys, and drop the oldest where there are more than `at_most`; return the object as it was before.

        Raises StoreError and changes nothing.
        """
        before: list[Mapping[str, Any]] = []

        def newest(now: Mapping[str, Any]) -> dict[str, Any]:
            before[:] = [now]
            others = [(key, value) for key, value in now.items() if key not in keys]
            return dict([*others, *keys.items()][-at_most:])

        self.change(newest)
        return before[0]

    def change(self, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
        """Store what `change` makes of the object, and return once it is on disk; no change overwrites another.

        `change` is called again where somebody was faster; what it raises goes through. An empty object is removed.
        Raises StoreError and changes nothing.
        """
        self._documents.change(self._name, lambda now: _Keys.model_validate(change(now.model_extra or {})))

    def clear(self) -> None:
        """Remove the document; raises StoreError and changes nothing."""
        self._documents.remove(self._name)
