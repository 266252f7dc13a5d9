"""What a person is shown of a note whose lines changed: what it says, what stood there, what stands there now.

Reads blobs of two commits, writes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bot.agent.git import GitRepo
from bot.domain.citations import parse_lines, stands_in
from bot.domain.moved_lines import Lines, moved
from bot.domain.note_facts import MAX_QUOTE_CHARS, Cite
from bot.domain.notes import KeptNote, opening
from bot.domain.rechecks import EXCERPT_CHARS, ChangedLines, Recheck, recheck_id
from bot.domain.secrets import find_secrets
from bot.ports import Clock


class RecheckLook:
    """Looks at one codebase; what looks like a secret is not shown."""

    def __init__(self, repo: GitRepo, clock: Clock, known_secrets: Collection[str]) -> None:
        self._repo, self._clock, self._secrets = repo, clock, known_secrets

    def open(self, note: KeptNote, changed: Sequence[Cite], head: str) -> Recheck:
        """Return what is asked about a note, the lines in place of the `changed` ones as they stand at `head`.

        Raises:
            ProviderError: git fails.
        """
        return Recheck(
            id=recheck_id(note.ref, note.facts.cites),
            ref=note.ref,
            title=note.title,
            excerpt=opening(note.text)[:EXCERPT_CHARS],
            saved_by=note.facts.saved_by,
            saved_at=note.facts.saved_at,
            head=head,
            changes=tuple(ChangedLines(cite=cite, now=self._in_place_of(cite, head)) for cite in changed),
            at=self._clock.now(),
        )

    def _in_place_of(self, cite: Cite, head: str) -> Cite | None:
        """Return the lines that stand where the cited ones stood; None where nothing fit to be shown does."""
        cited = parse_lines(cite.ref)
        old, new = self._repo.lines_at(cite.commit, cite.path), self._repo.lines_at(head, cite.path)
        if cited is None or old is None or new is None:
            return None
        place = moved(old, new, _quoted_lines(cite.quote, old, Lines(cited.start, min(cited.end, len(old)))))
        if place is None:
            return None
        quote = "\n".join(new[place.start - 1 : place.end])
        if not quote.strip() or len(quote) > MAX_QUOTE_CHARS or find_secrets(quote, self._secrets):
            return None
        lines = f"{place.start}-{place.end}" if place.end > place.start else f"{place.start}"
        return Cite(path=cite.path, lines=lines, commit=head, quote=quote)


def _quoted_lines(quote: str, lines: Sequence[str], cited: Lines) -> Lines:
    """Return which of the cited lines a quote stands in; all of them where that cannot be told."""
    count = len(quote.strip("\n").split("\n"))
    starts = range(cited.start, cited.end - count + 2)
    return next((Lines(at, at + count - 1) for at in starts if stands_in(quote, lines[at - 1 : at + count - 1])), cited)
