"""A note that an investigation proposes, made safe to keep: its name and its text. Pure.

Both come from a model that has read hostile text: the name becomes a bare one of small letters, and who approved the
note stands above it in words of ours.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bot.domain.note_facts import NoteFacts, front_matter
from bot.errors import InputError

MAX_NOTE_CHARS: Final = 20_000
NAME_CHARS: Final = 60
_BLANK: Final = re.compile(r"\n\s*\n")
_UNSAFE: Final = re.compile(r"[^a-z0-9]+")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptNote:
    """A note of memory/: `ref` is `memory/<file>.md`, `text` its words without the facts above them."""

    ref: str
    title: str
    text: str
    facts: NoteFacts


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
    match = front_matter(text)
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
