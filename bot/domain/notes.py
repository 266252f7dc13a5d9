"""Notes: what stands above the words of one, which lines it cites, and notes as they are kept. Pure.

A note is what a human read and saved. Above its words stand who saved it and the lines of code that its words name, one
`key: <JSON>` a line between two `---`; people edit that with any editor, and what is not understood there is passed
over. Notes that earlier releases called lessons are notes.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, NamedTuple, Self

from pydantic import ConfigDict, StringConstraints, ValidationError

from bot.domain.citations.citation_lines import parse_lines
from bot.domain.frozen_value import FrozenValue, KeepsUnknownFields
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.text.sanitize import one_line, strip_hidden
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


MAX_NOTE_CHARS: Final = 3_000
"""What the dialogue shows of a note, and so all that is kept: it is what Slack's text input holds."""

NAME_CHARS: Final = 60
NAMED: Final = 3
UNKNOWN: Final = "could not check whether the cited lines have changed"
_BETWEEN_WORDS: Final = re.compile(r"[\s`'\"“”‘’,;()\[\]{}<>|]+")
_BLANK: Final = re.compile(r"\n\s*\n")
_UNSAFE: Final = re.compile(r"[^a-z0-9]+")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

TITLE_CHARS: Final = 120
_HEADING: Final = re.compile(r"^#+ +(.+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class NoteSource:
    """What a note is made from: a thread, or a message of a chat."""

    thread_id: str | None = None
    chat_id: str = ""
    message_id: str = ""


class _Value(KeepsUnknownFields):
    model_config = ConfigDict(frozen=True, extra="ignore")


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


class StaleCitations(NamedTuple):
    """Citations that do not stand: their lines `changed`, or no codebase has their commit (`unconfigured`)."""

    changed: Sequence[NoteCitation] = ()
    unconfigured: Sequence[NoteCitation] = ()

    @property
    def is_empty(self) -> bool:
        """Whether all of them stand."""
        return not self.changed and not self.unconfigured


def stale_lines_notice(stale: StaleCitations | None) -> str:
    """Return which cited lines changed, and since when, or are in no codebase any more; "" where all of them stand.

    >>> cite = NoteCitation(path="a.py", lines="3-4", commit="1a2b3c4d5e", quote="x")
    >>> stale_lines_notice(StaleCitations(changed=[cite]))
    'the cited lines changed since 1a2b3c4 (a.py:3-4): check before you rely on it'
    >>> stale_lines_notice(StaleCitations(unconfigured=[cite]))
    'cited from a codebase that is not configured here (a.py:3-4): nobody can check it'
    """
    return UNKNOWN if stale is None else "; ".join(_notices(stale))


def _notices(stale: StaleCitations) -> Iterator[str]:
    if stale.changed:
        since = stale.changed[0].commit[:7]
        yield f"the cited lines changed since {since} ({_named(stale.changed)}): check before you rely on it"
    if stale.unconfigured:
        named = _named(stale.unconfigured)
        yield f"cited from a codebase that is not configured here ({named}): nobody can check it"


def _named(cites: Sequence[NoteCitation]) -> str:
    more = f" and {len(cites) - NAMED} more" if len(cites) > NAMED else ""
    return ", ".join(one_line(cite.ref, 120) for cite in cites[:NAMED]) + more


def read_cites(text: str) -> tuple[NoteCitation, ...]:
    """Return the lines of code that a note rests on, as the facts above its words name them."""
    match = _front_matter(text)
    found = dict(_known(match["lines"].split("\n") if match else ())).get(CITES)
    return _sound(found if isinstance(found, list) else ())


def addresses_in(words: str) -> list[str]:
    """Return each `path:line` and `path:start-end` that a note's words name, once; at most `MAX_CITES`.

    >>> addresses_in("See `bot/app.py:3-9`, at 12:30 (bot/app.py:3-9), and setup.cfg:7.")
    ['bot/app.py:3-9', 'setup.cfg:7']
    """
    parts = (part.rstrip(".:!?") for part in _BETWEEN_WORDS.split(words))
    named = [part for part in parts if (cited := parse_lines(part)) and not cited.path.isdigit() and "://" not in part]
    return list(dict.fromkeys(named))[:MAX_CITES]


def _front_matter(text: str) -> re.Match[str] | None:
    """Return what stands above a note's words (its `lines`); None where the words begin at once, be it with a rule."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return None
    lines = match["lines"].split("\n")
    is_one = _KIND.search(match["lines"]) or all(_THEIRS.fullmatch(line.rstrip("\r")) for line in lines)
    return match if is_one else None


def cites_of(refs: Iterable[EvidenceRef]) -> tuple[NoteCitation, ...]:
    """Return the lines of code among a draft's citations."""
    files = ((ref.ref.rpartition(":"), ref) for ref in refs if ref.kind is EvidenceKind.FILE)
    return _sound({"path": at[0], "lines": at[2], "commit": ref.commit, "quote": ref.quote} for at, ref in files)


def _known(lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
    for line in lines:
        name, _, value = line.partition(": ")
        try:
            yield name, json.loads(value)
        except (ValueError, RecursionError):
            yield name, value.strip().strip("'")  # as editors write it anew


def _sound(values: Iterable[object]) -> tuple[NoteCitation, ...]:
    """Return those values that are citations of a file's lines."""
    return tuple(islice(_parsed(values), MAX_CITES))


def _parsed(values: Iterable[object]) -> Iterator[NoteCitation]:
    for value in values:
        try:
            cite = NoteCitation.model_validate(value)
        except ValidationError:
            continue
        if (cited := parse_lines(cite.ref)) is not None and cited.problem() is None:
            yield cite


def safe_name(title: str) -> str:
    """Return a title as a file's name that is safe in any folder, an ending `.md` left out.

    >>> safe_name("../../etc/Cron Jobs.md"), safe_name(".ssh/authorized_keys"), safe_name("???")
    ('etc-cron-jobs', 'ssh-authorized-keys', 'note')
    """
    plain = unicodedata.normalize("NFKD", title[:1_000]).encode("ascii", "ignore").decode().lower()
    bare = _UNSAFE.sub("-", plain.strip().removesuffix(".md")).strip("-")
    return bare[:NAME_CHARS].rstrip("-") or "note"


def visible_words(text: str) -> str:
    """Return what people see of a text: without control characters, and without others that show nothing."""
    return _CONTROLS.sub("", strip_hidden(text.replace("\r\n", "\n"))[0]).strip()


def offered_words(text: str) -> str:
    """Return a text as the dialogue shows it: visible, and as many whole lines as the dialogue holds."""
    words = visible_words(text)
    cut = words[: MAX_NOTE_CHARS - 2]
    return words if len(words) <= MAX_NOTE_CHARS else f"{cut.rpartition(chr(10))[0] or cut}\n…"


def note_text(words: str, facts: Mapping[str, object]) -> str:
    """Return the note as it is kept: who saved it, when and from what, then its words.

    A fact that is None or empty is left out.
    """
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


def title_of(words: str, default: str) -> str:
    """Return a note's first heading.

    >>> title_of("# Retries\\n\\nFive.", "x"), title_of("Five.", "retries")
    ('Retries', 'retries')
    """
    heading = _HEADING.search(words)
    return (heading[1].strip() if heading else default)[:TITLE_CHARS]


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
    cites: tuple[NoteCitation, ...]
    whole: str

    @classmethod
    def read(cls, ref: str, whole: str) -> Self:
        """Return the note of this text; without a heading its name is its title."""
        text = note_words(whole)
        title = title_of(text, PurePosixPath(ref).stem.replace("-", " ").replace("_", " "))
        return cls(ref=ref, title=title, text=text, cites=read_cites(whole), whole=whole)

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
