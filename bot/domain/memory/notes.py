"""Notes: how a proposed one is made safe to keep, what stands above its words, and notes as they are kept. Pure.

Name and text come from a model that has read hostile text. Above the words stand who kept the note and which lines it
rests on, one `key: <JSON>` a line between two `---`; people edit that with any editor, and what is not understood there
is passed over.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, Self

from pydantic import ConfigDict, StringConstraints, ValidationError

from bot.domain.citations.citation_lines import parse_lines
from bot.domain.frozen_value import FrozenValue, KeepsUnknownFields
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.secrets import find_secrets
from bot.errors import InputError

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

SHARED: Final = "shared"
"""The folder of memory/ that holds copies of what other teams share, a folder for each."""


MAX_NOTE_CHARS: Final = 20_000
NAME_CHARS: Final = 60
_BLANK: Final = re.compile(r"\n\s*\n")
_UNSAFE: Final = re.compile(r"[^a-z0-9]+")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

TITLE_CHARS: Final = 120
_HEADING: Final = re.compile(r"^#+ +(.+)$", re.MULTILINE)


class _Value(KeepsUnknownFields):
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


class NoteCitation(_Value):
    """Lines of one file that a note rests on: `lines` is `start-end` or `line` at `commit`, `quote` stood there."""

    path: str
    lines: str
    commit: Annotated[str, StringConstraints(pattern=r"[0-9a-f]{7,64}")]
    quote: Annotated[str, StringConstraints(min_length=1, max_length=MAX_QUOTE_CHARS)]

    @property
    def ref(self) -> str:
        """The citation as it is written everywhere, `path:start-end`."""
        return f"{self.path}:{self.lines}"


class NoteHeader(_Value):
    """Those facts of ours that are read; all unknown for a note that people wrote into memory/ themselves."""

    kind: NoteKind = NoteKind.NOTE
    cites: tuple[NoteCitation, ...] = ()

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the facts above a note's words, each left out that is not as we write it."""
        match = _front_matter(text)
        known = dict(_known(match["lines"].split("\n") if match else ()))
        kind = known.get("kind")
        return cls(
            kind=NoteKind(kind) if kind in tuple(NoteKind) else NoteKind.NOTE,
            cites=tuple(_cites(known.get(CITES))),
        )


def _front_matter(text: str) -> re.Match[str] | None:
    """Return what stands above a note's words (its `lines`); None where the words begin at once, be it with a rule."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return None
    lines = match["lines"].split("\n")
    is_one = _KIND.search(match["lines"]) or all(_THEIRS.fullmatch(line.rstrip("\r")) for line in lines)
    return match if is_one else None


def cites_of(refs: Iterable[EvidenceRef], known_secrets: Collection[str] = ()) -> tuple[NoteCitation, ...]:
    """Return the lines of code among a draft's citations; a quote that looks like a secret is not kept."""
    return tuple(_kept(refs, known_secrets))[:MAX_CITES]


def _known(lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
    for line in lines:
        name, _, value = line.partition(": ")
        try:
            yield name, json.loads(value)
        except (ValueError, RecursionError):
            yield name, value.strip().strip("'")  # as editors write it anew


def _cites(value: object) -> Iterator[NoteCitation]:
    for one in value[:MAX_CITES] if isinstance(value, list) else ():
        try:
            cite = NoteCitation.model_validate(one)
        except ValidationError:
            continue
        if _is_sound(cite.ref):
            yield cite


def _kept(refs: Iterable[EvidenceRef], known_secrets: Collection[str]) -> Iterator[NoteCitation]:
    for ref in refs:
        if ref.kind is not EvidenceKind.FILE or not _is_sound(ref.ref) or find_secrets(ref.quote, known_secrets):
            continue
        path, _, lines = ref.ref.rpartition(":")
        try:
            yield NoteCitation(path=path, lines=lines, commit=ref.commit or "", quote=ref.quote)
        except ValidationError:
            continue


def _is_sound(ref: str) -> bool:
    cited = parse_lines(ref)
    return cited is not None and cited.problem() is None


def safe_name(filename: str) -> str:
    """Return a proposed file name as one that is safe in any folder, its ending `.md` left out.

    >>> safe_name("../../etc/Cron Jobs.md"), safe_name(".ssh/authorized_keys"), safe_name("???")
    ('etc-cron-jobs', 'ssh-authorized-keys', 'note')
    """
    plain = unicodedata.normalize("NFKD", filename[:1_000]).encode("ascii", "ignore").decode().lower()
    bare = _UNSAFE.sub("-", plain.strip().removesuffix(".md")).strip("-")
    return bare[:NAME_CHARS].rstrip("-") or "note"


def note_text(content: str, facts: Mapping[str, object]) -> str:
    """Return the note as it is kept: what kind it is, who saved it, when and for which thread, then its words.

    A fact that is None or empty is left out.

    Raises:
        InputError: it is empty or too long.
    """
    words = _CONTROLS.sub("", content.replace("\r\n", "\n")).strip()
    if not words:
        raise InputError("The proposed note is empty; nothing was saved.")
    if len(words) > MAX_NOTE_CHARS:
        raise InputError(f"The proposed note has {len(words):,} characters; at most {MAX_NOTE_CHARS:,} are kept.")
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in facts.items() if value]
    return "\n".join(["---", *lines, "---", "", words, ""])


def note_words(text: str) -> str:
    """Return the words of a note without the facts above them.

    >>> note_words(note_text("# Retries", {"saved_by": "U1"}))
    '# Retries\\n'
    """
    match = _front_matter(text)
    return text[match.end() :] if match else text


def paragraphs(words: str) -> list[str]:
    """Return the paragraphs of a note, headings left out.

    >>> paragraphs("# Retries\\n\\nFive.\\nOr six.\\n\\n\\nNo more.")
    ['Five.\\nOr six.', 'No more.']
    """
    return [part.strip() for part in _BLANK.split(words) if part.strip() and not part.startswith("#")]


def opening(words: str) -> str:
    """Return the first paragraph of a note with what it announces, verbatim; "" where it is nothing but headings."""
    found = paragraphs(words)
    return "\n\n".join(found[: 2 if found and found[0].endswith(":") else 1])


class StoredNote(FrozenValue):
    """A note as a database holds it, by its path below memory/; it keeps its path when it is retired."""

    whole: str
    is_retired: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptNote:
    """A note of memory/: `ref` is `memory/<file>.md`, `text` its words without the facts above them, `whole` both."""

    ref: str
    title: str
    text: str
    facts: NoteHeader
    whole: str

    @classmethod
    def read(cls, ref: str, whole: str) -> Self:
        """Return the note of this text; without a heading its name is its title."""
        text = note_words(whole)
        heading = _HEADING.search(text)
        title = heading[1].strip() if heading else PurePosixPath(ref).stem.replace("-", " ").replace("_", " ")
        return cls(ref=ref, title=title[:TITLE_CHARS], text=text, facts=NoteHeader.read(whole), whole=whole)

    @property
    def first_line(self) -> int:
        """The number of the line of its file at which its words begin, from 1."""
        return self.whole.count("\n") - self.text.count("\n") + 1

    @property
    def is_shared(self) -> bool:
        """Whether it is the copy of another team's note, who alone looks after it."""
        return self.ref.startswith(f"memory/{SHARED}/")


def check_note_path(path: str) -> str:
    """Return a note's path below memory/, safe as a file's; raises InputError for any other text.

    >>> check_note_path("shared/payments/retries.md")
    'shared/payments/retries.md'
    """
    parts = path.split("/")
    if not path.endswith(".md") or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise InputError(f"{path[:60]!r} is no note's path; one looks like retries.md")
    return path
