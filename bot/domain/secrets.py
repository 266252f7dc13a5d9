"""Finds credentials in text, and blacks them out; the values found never leave this module.

Pure. Redact before truncating: half a token is still a leak and no longer matches. A value is judged by its shape where
the issuer gave it one, else by its name or place and by how random it looks. Time is proportional to the text's length.
The places of credentials (the flag of a command, a header, a part of a URL) stand in credentials/secret_places.yml;
each pattern of a place is run only on a text that holds its needle, and every repeat in it is bounded.
Source: the issuers' published forms; why no library, docs/decisions/secret-patterns.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from bot.domain.credentials.secret_columns import in_columns
from bot.domain.credentials.secret_forms import SecretSpan, issued
from bot.domain.credentials.secret_names import is_password, is_placeholder, is_random, is_strong, named
from bot.domain.tables import Parts, fill, read_table
from bot.domain.text.linear_patterns import LinearPattern, encodable
from bot.domain.text.sanitize import strip_hidden

_MIN_CHOSEN_CHARS: Final = 3
_MIN_BITS: Final = 3.0
_COMMON: Final = frozenset({":", "://", "pass", "pass ", " pass ", "user", "User", " config", "account", "redential"})
"""Needles that more than one source file in twenty-five holds; places with one of them are looked at by themselves."""

_IN_CLUSTER: Final = re.compile(r"(?m)^kind:[ \t]{1,8}Secret\b")
_MANIFEST_LINE: Final = re.compile(
    r"(?m)^(?P<indent>[ \t]{0,20})(?P<name>[\w.-]{1,100}):[ \t]{0,20}(?P<value>[^\n]{0,20000})"
)

MIN_KNOWN_CHARS: Final = 8
OWN_SECRET: Final = "secret of this process"  # noqa: S105 - the name of a kind
_MAX_PASSES: Final = 4
HIDDEN: Final = "[redacted]"
_HUNK: Final = re.compile(r"^(@@ -\S+ \+\S+ @@).*$", re.M)
_ENCODED: Final = re.compile(r"^[ +-](?![0-9a-fA-F]+$)[A-Za-z0-9+/]{48,}={0,2}$", re.M)


class _Row(NamedTuple):
    """A place: a command with one of its `flags`, or any `pattern`; what `judge` accepts in it is a credential."""

    kind: str
    needles: tuple[str, ...]
    pattern: str = ""
    command: str = ""
    flags: str = ""
    value: str = "{VALUE}"
    judge: Literal["chosen", "password", "random", "strong"] = "chosen"
    quick: str = ""


class _SecretPlacesTable(NamedTuple):
    parts: Parts
    places: tuple[_Row, ...]


class _Place(NamedTuple):
    kind: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]
    is_secret: Callable[[str], bool]
    quick: re.Pattern[str]


class _Places(NamedTuple):
    """All places; those that are `common`; and whether a text can hold any other, which one pass tells."""

    every: tuple[_Place, ...]
    common: tuple[_Place, ...]
    others: LinearPattern


def _chosen(value: str) -> bool:
    """Whether a value where only a password may stand is one: it need not look random, but it is no placeholder."""
    return len(value) >= _MIN_CHOSEN_CHARS and not is_placeholder(value) and not value.startswith("-")


def _password(value: str) -> bool:
    return is_password(value, is_bare=False)


def _random(value: str) -> bool:
    return is_random(value, _MIN_BITS)


_JUDGES: Final[dict[str, Callable[[str], bool]]] = {
    "chosen": _chosen,
    "password": _password,
    "random": _random,
    "strong": is_strong,
}


@cache
def _places() -> _Places:
    lists = read_table(__file__, "credentials/secret_places.yml", _SecretPlacesTable)
    every = tuple(_place(row, lists.parts) for row in lists.places)
    common = tuple(place for place in every if not _COMMON.isdisjoint(place.needles))
    needles = (needle for place in every if place not in common for needle in place.needles)
    return _Places(every, common, LinearPattern("|".join(map(re.escape, needles))))


def _place(row: _Row, parts: Parts) -> _Place:
    pattern = row.pattern or rf"\b(?:{row.command})\b{{REST}}(?:{row.flags}){{TO}}{row.value}"
    return _Place(row.kind, row.needles, re.compile(fill(pattern, parts)), _JUDGES[row.judge], re.compile(row.quick))


def placed(text: str) -> Iterator[SecretSpan]:
    """Yield where a credential stands in a place made for one."""
    places = _places()
    for place in places.every if places.others.is_in(text) else places.common:
        if any(needle in text for needle in place.needles) and place.quick.search(text):
            for match in place.pattern.finditer(text):
                if place.is_secret(match["value"]) and match.groupdict().get("user") != match["value"]:
                    yield SecretSpan(*match.span("value"), place.kind)
    if "kind:" in text and _IN_CLUSTER.search(text):
        yield from _in_manifests(text)


def _in_manifests(text: str) -> Iterator[SecretSpan]:
    """Yield the values of Kubernetes' manifests of secrets, whatever they are called there."""
    start = 0
    for separator in (*re.finditer(r"(?m)^---", text), None):
        end = separator.start() if separator else len(text)
        is_data = False
        for line in _MANIFEST_LINE.finditer(text, start, end) if _IN_CLUSTER.search(text, start, end) else ():
            if not line["indent"]:
                is_data = line["name"] in {"data", "stringData"}
            elif is_data and _chosen(line["value"]):
                yield SecretSpan(*line.span("value"), "secret")
        start = end


def find_secrets(text: str, known: Collection[str] = ()) -> list[str]:
    """Return the kinds of credential in `text`, each once, in order of appearance; never a value.

    One that holds characters which nobody sees, and which are left out when a text is shown, is found, too.

    Args:
        text: Anything that may be shown or stored.
        known: The process's own secret values; those under 8 characters are ignored.

    >>> find_secrets('password = "hG7$kq2Lz9pW"'), find_secrets("token = settings.slack_token")
    (['password'], [])
    """
    shown, hidden = strip_hidden(text)
    spans = _spans(text, known) + (_spans(shown, known) if hidden else [])
    return list(dict.fromkeys(span.kind for span in spans))


def redact(text: str, known: Collection[str] = ()) -> str:
    """Return `text` with every credential replaced by what kind it was.

    Without the characters that nobody sees where a credential stands in it then.

    >>> redact("postgres://bob:S3cr3tPw@db/orders")
    'postgres://bob:[redacted: password]@db/orders'
    """
    shown, hidden = strip_hidden(text)
    if hidden and _spans(shown, known):
        text = shown
    for _ in range(_MAX_PASSES):  # what stood beside a credential may stand free now, and be one
        clean = _redacted_once(text, known)
        if clean == text:
            break
        text = clean
    return text


def redact_values(value: Any, known: Collection[str]) -> Any:
    """Return nested mappings and sequences with every credential in their texts replaced; sequences become tuples.

    >>> redact_values({"note": ["password: hunter2"], "count": 2}, ())
    {'note': ('password: [redacted: password]',), 'count': 2}
    """
    if isinstance(value, str):
        return redact(value, known)
    if isinstance(value, dict):
        return {key: redact_values(each, known) for key, each in value.items()}
    return tuple(redact_values(each, known) for each in value) if isinstance(value, list | tuple) else value


def redact_lines(lines: Sequence[str], known: Collection[str] = ()) -> list[str]:
    """Return as many lines as given, none with a credential; one that spans lines hides each of them.

    >>> redact_lines(["a = 1", 'password = "hG7$kq2Lz9pW"'])
    ['a = 1', 'password = "[redacted: password]"']
    """
    text = "\n".join(lines)
    clean = redact(text, known)
    if clean == text:
        return list(lines)
    redacted = clean.split("\n")
    return redacted if len(redacted) == len(lines) else _aligned(lines, redacted)


def redact_patch(text: str, known: Collection[str]) -> str:
    """Return a diff without credentials, nor lines that may come from the middle of a key whose head is not shown.

    What git adds behind the range of a hunk is a line cut short, so it goes too.
    """
    return _ENCODED.sub(lambda line: f"{line[0][0]}{HIDDEN}", _HUNK.sub(r"\1", redact(text, known)))


def _redacted_once(text: str, known: Collection[str]) -> str:
    parts, done = [], 0
    for start, end, kind in _spans(text, known):
        if start >= done:
            parts += [text[done:start], f"[redacted: {kind}]"]
        done = max(done, end)
    return "".join(parts) + text[done:]


def _spans(text: str, known: Collection[str]) -> list[SecretSpan]:
    """Return where the credentials are: by start, the longest first; of two names for one place the surer one."""
    text = encodable(text)
    found: dict[tuple[int, int], SecretSpan] = {}
    for span in (*_known(text, known), *issued(text), *placed(text), *named(text), *in_columns(text)):
        found.setdefault((span.start, span.end), span)
    return sorted(found.values(), key=lambda span: (span.start, -span.end))


def _known(text: str, known: Collection[str]) -> Iterator[SecretSpan]:
    for value in known:
        if len(value) >= MIN_KNOWN_CHARS:
            for match in re.finditer(re.escape(value), text):
                yield SecretSpan(*match.span(), OWN_SECRET)


def _aligned(lines: Sequence[str], redacted: Sequence[str]) -> list[str]:
    """Return the lines that also stand in the redacted text, which cannot leak, and in place of each other a mark."""
    clean = frozenset(redacted)
    return [line if line in clean else HIDDEN for line in lines]
