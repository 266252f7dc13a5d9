"""Asks people about notes whose cited lines changed: once for each note; nothing is decided without a human.

A card shows what the note says, what its lines said then and what they say now. Notes are checked once for each HEAD.
Each step is saved before the next begins and can be repeated: a decision is stored before the note is changed, and the
card shows what is stored.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from pydantic import ValidationError

from bot.agent.git.repositories import Repositories, revision_of
from bot.casework.checks.citation_staleness import CitationStaleness
from bot.casework.thread_service import ThreadService
from bot.domain.citations.citation_lines import Lines, find_moved_lines, is_verbatim, parse_lines
from bot.domain.memory.notes import MAX_QUOTE_CHARS, KeptNote, NoteCitation, opening
from bot.domain.memory.rechecks import EXCERPT_CHARS, ChangedLines, Recheck, RecheckOutcome, recheck_id, with_new_pins
from bot.domain.secrets import find_secrets
from bot.errors import CodebaseUnreadable, ConfigError, InputError, ProviderError, StoreError
from bot.ports import NoteStore, RecheckChat
from bot.ports.collections import SingleDocument

log = logging.getLogger(__name__)

MAX_SETTLED: Final = 200
CARDS_A_TICK: Final = 3
"""A day of renaming touches many notes; Slack takes about one post a second, and drafts go there too."""

Known = Mapping[str, Recheck]


def _in_place_of(cite: NoteCitation, repos: Repositories, secrets: Collection[str]) -> NoteCitation | None:
    """Return the lines that stand where the cited ones stood; None where nothing fit to be shown does.

    What looks like a secret is not shown. Raises ProviderError when git fails.
    """
    cited = parse_lines(cite.ref)
    repo, path = repos.locate(cite.path, cite.commit)
    head = repo.head()
    old, new = repo.lines_at(cite.commit, path), repo.lines_at(head, path)
    if cited is None or old is None or new is None:
        return None
    place = find_moved_lines(old, new, _quoted_lines(cite.quote, old, Lines(cited.start, min(cited.end, len(old)))))
    if place is None:
        return None
    quote = "\n".join(new[place.start - 1 : place.end])
    if not quote.strip() or len(quote) > MAX_QUOTE_CHARS or find_secrets(quote, secrets):
        return None
    lines = f"{place.start}-{place.end}" if place.end > place.start else f"{place.start}"
    return NoteCitation(path=cite.path, lines=lines, commit=head, quote=quote)


def _quoted_lines(quote: str, lines: Sequence[str], cited: Lines) -> Lines:
    """Return which of the cited lines a quote stands in; all of them where that cannot be told."""
    count = len(quote.strip("\n").split("\n"))
    starts = range(cited.start, cited.end - count + 2)
    return next(
        (Lines(at, at + count - 1) for at in starts if is_verbatim(quote, lines[at - 1 : at + count - 1])), cited
    )


class NoteRechecks:
    """Asks about notes whose lines changed, at each `tick`, and carries out what is clicked.

    Raises InputError (Conflict) with a text for whoever clicked.
    """

    def __init__(
        self,
        service: ThreadService,
        notes: NoteStore,
        repos: Repositories,
        standing: CitationStaleness,
        stored: SingleDocument,
        chat: RecheckChat,
    ) -> None:
        self._service, self._notes, self._repos, self._standing = service, notes, repos, standing
        self._stored, self._chat = stored, chat
        self._file = threading.RLock()
        self._settling = threading.Lock()

    def tick(self) -> None:
        """Look the notes through if HEAD moved, then bring a few cards in line; what the chat refuses waits."""
        try:
            self._sweep()
        except (ProviderError, ConfigError, CodebaseUnreadable):
            log.warning("notes could not be looked up", extra={"action": "recheck_unread"}, exc_info=True)
        waiting = [one for one in self._known().values() if not one.is_shown]
        settled = 0
        for one in sorted(waiting, key=lambda one: one.at):
            try:
                if settled == CARDS_A_TICK or not self._settle(one.id):
                    return
            except StoreError:  # a note that cannot be rewritten holds up no other
                log.warning("a recheck waits for the disk", extra={"action": "recheck_waits"}, exc_info=True)
                continue
            settled += 1

    def decide(self, given: str, outcome: RecheckOutcome, *, by: str) -> None:
        """Carry out a click: `KEPT` has the note cite the lines as the card shows them, `RETIRED` puts it away.

        Raises:
            InputError: it is not on file.
            Conflict: somebody decided already, or changed the note since the card.
            StoreError: the decision could not be stored, and nothing happened; or the note could not be touched, and
                that is tried again.
        """
        at = self._service.clock.now()
        self._change(given, lambda now: self._as_now(now, self._note(now.ref), looks=False))
        try:
            self._change(given, lambda now: now.decided(outcome, by, at))
        finally:
            self._settle(given)

    def _sweep(self) -> None:
        head = revision_of(self._repos)
        with self._file:
            if self._stored.read().get("head") == head:
                return
            notes = {note.ref: note for note in self._notes.all() if not note.is_shared}
            seen = self._known()
            known = {one.id: self._as_now(one, notes.get(one.ref)) for one in seen.values()}
            for note in notes.values():
                before = known.get(recheck_id(note.ref, note.facts.cites))
                is_new = before is None or before.outcome in (RecheckOutcome.MOOT, RecheckOutcome.GONE)
                if is_new and (changed := self._standing.stale(note.facts.cites).changed):
                    opened = self._opened(note, changed, head)
                    known[opened.id] = _on_the_card_of(before, opened)

            def swept(stored: Mapping[str, Any]) -> Mapping[str, Any]:
                decided = {one.id: one for one in _parsed(stored).values() if seen.get(one.id) != one}
                return _document(stored, {**known, **decided}, head)

            self._stored.change(swept)

    def _opened(self, note: KeptNote, changed: Sequence[NoteCitation], head: str) -> Recheck:
        """Return what is asked about a note, the lines now in place of the `changed` ones; `head` is the revision."""
        secrets = self._service.known_secrets
        changes = [ChangedLines(cite=cite, now=_in_place_of(cite, self._repos, secrets)) for cite in changed]
        return Recheck(
            id=recheck_id(note.ref, note.facts.cites),
            ref=note.ref,
            title=note.title,
            excerpt=opening(note.text)[:EXCERPT_CHARS],
            saved_by=note.facts.saved_by,
            saved_at=note.facts.saved_at,
            head=head,
            changes=tuple(changes),
            at=self._service.clock.now(),
        )

    def _as_now(self, one: Recheck, note: KeptNote | None, *, looks: bool = True) -> Recheck:
        """Return an open recheck as its note is now: it may be gone, cite other lines, or (`looks`) be right again."""
        if one.outcome is not RecheckOutcome.OPEN:
            return one
        if note is None:
            return one.evolve(outcome=RecheckOutcome.GONE)
        cites = note.facts.cites
        is_moot = recheck_id(note.ref, cites) != one.id or (looks and not self._standing.stale(cites).changed)
        return one.evolve(outcome=RecheckOutcome.MOOT) if is_moot else one

    def _note(self, ref: str) -> KeptNote | None:
        return next((note for note in self._notes.all() if note.ref == ref), None)

    def _settle(self, given: str) -> bool:
        """Do what a decision leads to and show it; False where the chat does not take it now."""
        with self._settling:
            one = self._known().get(given)
            if one is None or one.is_shown:
                return True
            if one.outcome in (RecheckOutcome.KEPT, RecheckOutcome.RETIRED):
                one = self._carry_out(one)
            try:
                self._show(one)
            except ProviderError:
                log.info("a recheck's card waits", extra={"action": "recheck_card_waits"}, exc_info=True)
                return False
        return True

    def _carry_out(self, one: Recheck) -> Recheck:
        """Touch the note as decided, unless that was done before a crash, or people have changed what it cites."""
        note = self._note(one.ref)
        is_same = note is not None and recheck_id(note.ref, note.facts.cites) == one.id
        if one.outcome is RecheckOutcome.KEPT:
            if note is not None and is_same:
                self._notes.repin(one.ref, with_new_pins(note.facts.cites, one.changes))
                self._look_again(one)
            return one
        retired = self._notes.retire(one.ref) if is_same else self._notes.find(PurePosixPath(one.ref).stem)
        return self._change(one.id, lambda now: now.evolve(retired_as=now.retired_as or retired))

    def _look_again(self, one: Recheck) -> None:
        """Have the notes looked through anew where HEAD has moved since the card: the lines may be others again."""
        self._stored.change(lambda stored: stored if stored.get("head") == one.head else {**stored, "head": ""})

    def _show(self, one: Recheck) -> None:
        """Bring the card in line; what nobody was told of needs none once there is nothing to decide."""
        place = (one.card_channel, one.card_ts)
        if one.card_ts is None and one.outcome is RecheckOutcome.OPEN:
            self._service.cards.guard.require()
        if one.card_ts is not None or one.outcome is RecheckOutcome.OPEN:
            place = self._chat.show(one)
        shown = one.outcome
        self._change(one.id, lambda now: now.evolve(card_channel=place[0], card_ts=place[1], card_shows=shown))

    def _change(self, given: str, change: Callable[[Recheck], Recheck]) -> Recheck:
        changed: list[Recheck] = []

        def write(stored: Mapping[str, Any]) -> Mapping[str, Any]:
            known = _parsed(stored)
            if given not in known:
                raise InputError("This note's card is no longer stored; nothing was changed.")
            changed[:] = [change(known[given])]
            return _document(stored, {**known, given: changed[0]}, str(stored.get("head") or ""))

        self._stored.change(write)
        return changed[0]

    def _known(self) -> Known:
        return _parsed(self._stored.read())


def _parsed(stored: Mapping[str, Any]) -> dict[str, Recheck]:
    """Return every recheck of a document by its id."""
    found, known = stored.get("rechecks"), {}
    for one in found if isinstance(found, list) else ():
        try:
            recheck = Recheck.model_validate(one, extra="allow")
        except ValidationError:
            log.warning("a recheck cannot be read; its note is looked up anew", extra={"action": "recheck_unread"})
            continue
        known[recheck.id] = recheck
    return known


def _document(stored: Mapping[str, Any], known: Known, head: str) -> Mapping[str, Any]:
    """Return what is stored of rechecks; of those that are settled only the latest are kept."""
    settled = [one for one in known.values() if one.is_shown and one.outcome is not RecheckOutcome.OPEN]
    forgotten = {one.id for one in sorted(settled, key=lambda one: one.at)[:-MAX_SETTLED]}
    kept = [one.model_dump(mode="json") for one in known.values() if one.id not in forgotten]
    return {**stored, "head": head, "rechecks": kept}


def _on_the_card_of(before: Recheck | None, opened: Recheck) -> Recheck:
    """Return a recheck that is asked once more, on the card that said there was nothing to decide."""
    if before is None:
        return opened
    return opened.evolve(card_channel=before.card_channel, card_ts=before.card_ts, card_shows=before.card_shows)
