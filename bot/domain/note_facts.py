"""What stands above the words of a kept note: who kept it, what kind it is, and which lines of code it rests on. Pure.

One `key: <JSON>` a line between two `---`. What people write there themselves is passed over, never an error: a note
without facts of ours cites nothing, and there is nothing to check. Editors put a byte order mark, other line ends,
blank lines and lists there, and take quotes away; a lesson stays one through all of that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from bot.domain.citations import parse_lines
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.secrets import find_secrets

MAX_CITES: Final = 8
MAX_QUOTE_CHARS: Final = 8_000
_FRONT_MATTER: Final = re.compile(
    r"\A(?P<head>\ufeff?\s*?---[ \t\r]*\n)(?P<lines>(?:.*\n)*?)(?P<tail>---[ \t\r]*(?:\n(?:\r?\n)?|\Z))"
)
_KIND: Final = re.compile(r"^kind: ", re.MULTILINE)
_THEIRS: Final = re.compile(r"[\w .-]+:(?: .*)?|[ \t].*|- .*|#.*|")
"""A line that people's own front matter may have."""
CITES: Final = "cites"
RETIRED: Final = "retired"
"""The folder of memory/ whose notes are neither searched nor evidence."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class NoteKind(StrEnum):
    """What a note is: an answer people kept, or a lesson from a draft that they changed or dismissed."""

    NOTE = "note"
    CORRECTION = "correction"
    DISMISSAL = "dismissal"

    @property
    def is_lesson(self) -> bool:
        """Whether it tells of a draft, which says nothing of the code by itself."""
        return self is not NoteKind.NOTE


class Cite(_Value):
    """Lines of one file that a note rests on: `lines` is `start-end` or `line` at `commit`, `quote` stood there."""

    path: str
    lines: str
    commit: Annotated[str, StringConstraints(pattern=r"[0-9a-f]{7,64}")]
    quote: Annotated[str, StringConstraints(min_length=1, max_length=MAX_QUOTE_CHARS)]

    @property
    def ref(self) -> str:
        """The citation as it is written everywhere, `path:start-end`."""
        return f"{self.path}:{self.lines}"

    def as_evidence(self) -> EvidenceRef:
        """Return it as a citation of a draft."""
        return EvidenceRef(kind=EvidenceKind.FILE, ref=self.ref, commit=self.commit, quote=self.quote)


class NoteFacts(_Value):
    """The facts of ours; all unknown for a note that people wrote into memory/ themselves."""

    kind: NoteKind = NoteKind.NOTE
    saved_by: str | None = None
    saved_at: str | None = None
    cites: tuple[Cite, ...] = ()

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the facts above a note's words, each left out that is not as we write it."""
        match = front_matter(text)
        known = dict(_known(match["lines"].split("\n") if match else ()))
        kind, by, at = known.get("kind"), known.get("saved_by"), known.get("saved_at")
        return cls(
            kind=NoteKind(kind) if kind in tuple(NoteKind) else NoteKind.NOTE,
            saved_by=by if isinstance(by, str) else None,
            saved_at=at if isinstance(at, str) else None,
            cites=tuple(_cites(known.get(CITES))),
        )


def front_matter(text: str) -> re.Match[str] | None:
    """Return what stands above a note's words (its `lines`); None where the words begin at once, be it with a rule."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return None
    lines = match["lines"].split("\n")
    is_one = _KIND.search(match["lines"]) or all(_THEIRS.fullmatch(line.rstrip("\r")) for line in lines)
    return match if is_one else None


def cites_of(refs: Iterable[EvidenceRef], known_secrets: Collection[str] = ()) -> tuple[Cite, ...]:
    """Return the lines of code among a draft's citations; a quote that looks like a secret is not kept."""
    return tuple(_kept(refs, known_secrets))[:MAX_CITES]


def with_cites(text: str, cites: Sequence[Cite]) -> str:
    """Return a kept note with other citations above its words, and everything else as it stands.

    >>> with_cites('---\\nkind: "note"\\ncites: [{"path": "a.py"}]\\n---\\n\\nFive.\\n', ())
    '---\\nkind: "note"\\n---\\n\\nFive.\\n'
    """
    match = front_matter(text)
    if match is None:
        return text
    lines = [f"{line}\n" for line in match["lines"].split("\n")[:-1] if not line.startswith(f"{CITES}: ")]
    pinned = f"{CITES}: {json.dumps([cite.model_dump() for cite in cites], ensure_ascii=False)}\n" if cites else ""
    return "".join([match["head"], *lines, pinned, match["tail"], text[match.end() :]])


def _known(lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
    for line in lines:
        name, _, value = line.partition(": ")
        try:
            yield name, json.loads(value)
        except (ValueError, RecursionError):
            yield name, value.strip().strip("'")  # as editors write it anew


def _cites(value: object) -> Iterator[Cite]:
    for one in value[:MAX_CITES] if isinstance(value, list) else ():
        try:
            cite = Cite.model_validate(one)
        except ValidationError:
            continue
        if _is_sound(cite.ref):
            yield cite


def _kept(refs: Iterable[EvidenceRef], known_secrets: Collection[str]) -> Iterator[Cite]:
    for ref in refs:
        if ref.kind is not EvidenceKind.FILE or not _is_sound(ref.ref) or find_secrets(ref.quote, known_secrets):
            continue
        path, _, lines = ref.ref.rpartition(":")
        try:
            yield Cite(path=path, lines=lines, commit=ref.commit or "", quote=ref.quote)
        except ValidationError:
            continue


def _is_sound(ref: str) -> bool:
    cited = parse_lines(ref)
    return cited is not None and cited.problem() is None
