"""The versions of the stored schema: how to convert documents from each to the next, and back.

A release may add fields with a default without a new version: releases of one version keep each other's fields. Any
other change (a field with another meaning, a new word in a closed list, a new class of work) adds one entry to
`MIGRATIONS`. Documents are converted when they are read and stored so when they next change; `triage migrate --schema`
converts them back before an earlier release is installed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bot.domain.waits import Doubt
from bot.errors import StoreError
from bot.ports.storage import Document, Documents
from bot.release import program_version

SCHEMA_KEY: Final = "schema_version"
Content = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Migration:
    """One step of one collection: `backward` leads to the schema before `number`, `forward` to that, else no change.

    Both get a whole document, without its `version`, and return it changed; fields that they do not name stay.
    """

    number: int
    collection: str
    backward: Callable[[Content], Content]
    forward: Callable[[Content], Content] = dict


class NewerSchema(StoreError):
    """A later version of triage wrote this; nothing of it is touched."""


def _add_doubts(thread: Content) -> Content:
    """Give a draft's doubts a code each; until then they were sentences only."""
    if thread.get("doubts") or not thread.get("stale_reasons"):
        return thread
    doubts = [Doubt.read(text).model_dump(mode="json") for text in thread["stale_reasons"]]
    return {**thread, "doubts": doubts}


def _drop_doubts(thread: Content) -> Content:
    """Leave the sentences, which say the same."""
    return {key: value for key, value in thread.items() if key != "doubts"}


def _stamp_findings(session: Content) -> Content:
    """Give each finding its stamps; until then the session had them all, as `<destination> finding <key>`."""
    findings, sent = session.get("findings"), session.get("sent")
    if not isinstance(findings, dict) or not isinstance(sent, dict):
        return session
    stamps: dict[str, dict[str, Any]] = {}
    marks = sent.get("stamps")
    for mark, at in (marks if isinstance(marks, dict) else {}).items():
        destination, _, key = str(mark).partition(" finding ")
        stamps.setdefault(key, {})[destination] = at
    stamped = {
        key: {"stamps": stamps.get(key, {}), **each} if isinstance(each, dict) else each
        for key, each in findings.items()
    }
    return {**{name: value for name, value in session.items() if name != "sent"}, "findings": stamped}


def _unstamp_findings(session: Content) -> Content:
    """Give the session the stamps of its findings, so that nothing rings again."""
    findings = {key: dict(each) for key, each in (session.get("findings") or {}).items()}
    stamps = {
        f"{destination} finding {key}": at
        for key, each in findings.items()
        for destination, at in (each.pop("stamps", None) or {}).items()
    }
    return {**session, "findings": findings, "sent": {"stamps": stamps}}


def _forget_new_work(job: Content) -> Content:
    """Make an alert the question that it was before; a question of a button is set aside, and named, by who reads it.

    Earlier releases read alerts as chat.
    """
    payload = job.get("payload")
    if not isinstance(payload, dict) or payload.get("class") != "alert-arrived":
        return job
    return {**job, "payload": {**payload, "class": "question-asked"}}


MIGRATIONS: Final = (
    Migration(number=2, collection="threads", forward=_add_doubts, backward=_drop_doubts),
    Migration(number=3, collection="sessions", forward=_stamp_findings, backward=_unstamp_findings),
    Migration(number=3, collection="jobs", backward=_forget_new_work),
)
"""Every step since the first form; a step never changes once it was released."""

SCHEMA_VERSION: Final = max(step.number for step in MIGRATIONS)
"""The form that this version writes."""


def schema_of(content: Content, place: str = "a document") -> int | None:
    """Return the number that stands in a document or a job, 1 where none does; None where it is no number.

    Raises NewerSchema for that of a later version of triage, which wrote what is at `place`.

    >>> schema_of({}), schema_of({"schema_version": 3}), schema_of({"schema_version": "x"})
    (1, 3, None)
    """
    found = content.get(SCHEMA_KEY, 1)
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        return None
    if found > SCHEMA_VERSION:
        raise NewerSchema(
            f"{place} has schema {found}; triage {program_version()} reads schemas up to {SCHEMA_VERSION}. "
            f"Start the later version of triage again, or type `triage migrate --schema {SCHEMA_VERSION}` with it first"
        )
    return found


def sealed(content: Content) -> dict[str, Any]:
    """Return what is stored of a document: its content and the schema of this version."""
    return {**content, SCHEMA_KEY: SCHEMA_VERSION}


def migrated(documents: Documents, collection: str, document: Document) -> dict[str, Any] | None:
    """Return a document's content in the form of this version, without what the store keeps in it.

    None where it holds no object, or no number as its schema. Raises NewerSchema.
    """
    if document.value is None:
        return None
    schema = schema_of(document.value, documents.place(collection, document.id))
    if schema is None:
        return None
    content = forward(collection, document.value, schema)
    return {key: value for key, value in content.items() if key != SCHEMA_KEY}


def refuse_newer(documents: Documents, collections: Iterable[str]) -> None:
    """Raise NewerSchema if a document is in the form of a later version.

    What the disk does not hand out, or holds no object, is left to those who read it.
    """
    for name in collections:
        try:
            found = documents.list(name)
        except StoreError:
            continue
        for document in found:
            migrated(documents, name, document)


def forward(collection: str, content: Content, schema: int, steps: Iterable[Migration] = MIGRATIONS) -> Content:
    """Return a document of an earlier schema in the newest form."""
    for step in sorted(steps, key=lambda one: one.number):
        content = step.forward(content) if step.collection == collection and step.number > schema else content
    return content


def backward(collection: str, content: Content, to: int, steps: Iterable[Migration] = MIGRATIONS) -> dict[str, Any]:
    """Return a document in the form of schema `to`, sealed with it; one of that schema or an earlier one as it is.

    Raises NewerSchema for one of a later version.
    """
    schema = schema_of(content, f"something in {collection}")
    if schema is None or schema <= to:
        return dict(content)
    for step in sorted(steps, key=lambda one: -one.number):
        content = step.backward(content) if step.collection == collection and to < step.number <= schema else content
    return {**content, SCHEMA_KEY: to}
