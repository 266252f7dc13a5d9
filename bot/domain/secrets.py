"""Finds credentials in text, and blacks them out; the values found never leave this module.

Pure. Redact before truncating: half a token is still a leak and no longer matches. A value is known by the form that
its issuer gave it, else by the name before it (secret_names), the heading above it (secret_columns) or its place: the
flag of a command, a part of a URL. The places stand in credentials/secret_places.yml; each pattern is run only on a
text that holds its needle, and every repeat in it is bounded, so the time is proportional to the text's length.
Source: the issuers' published forms; the rule and why no library, docs/decisions/secret-patterns.md.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from bot.domain.credentials.secret_columns import in_columns
from bot.domain.credentials.secret_forms import SecretSpan, issued
from bot.domain.credentials.secret_names import Values, named, names_in
from bot.domain.credentials.secret_values import JUDGED_CHARS, is_stand_in, is_value, looks_generated
from bot.domain.tables import Parts, fill, read_table
from bot.domain.text.linear_patterns import encodable
from bot.domain.text.sanitize import strip_hidden

_MIN_MANIFEST_CHARS: Final = 3
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
    """A command with one of its `flags`, or any `pattern`: a credential is behind it, or is its group `value`."""

    kind: str
    needles: tuple[str, ...]
    pattern: str = ""
    command: str = ""
    flags: str = ""
    value: str = ""
    judge: Literal["value", "generated"] = "value"


class _SecretPlacesTable(NamedTuple):
    parts: Parts
    places: tuple[_Row, ...]


@cache
def _places() -> tuple[tuple[_Row, re.Pattern[str]], ...]:
    lists = read_table(__file__, "credentials/secret_places.yml", _SecretPlacesTable)
    return tuple((row, re.compile(fill(_pattern(row), lists.parts))) for row in lists.places)


def _pattern(row: _Row) -> str:
    return row.pattern or rf"\b(?:{row.command})\b{{REST}}(?:{row.flags}){{TO}}{row.value}"


def placed(text: str) -> Iterator[SecretSpan]:
    """Yield where a credential stands in a place made for one."""
    values = Values(text)
    for place, pattern in _places():
        for match in pattern.finditer(text) if any(needle in text for needle in place.needles) else ():
            start, end = _value_in(match, values)
            shown = text[start : min(end, start + JUDGED_CHARS)]
            if is_value(shown, place.kind) and (place.judge == "value" or looks_generated(shown)):
                yield SecretSpan(start, end, place.kind)
    if "kind:" in text and _IN_CLUSTER.search(text):
        yield from _in_manifests(text)


def _value_in(match: re.Match[str], values: Values) -> tuple[int, int]:
    """Return where the value of a place stands: its group, or what follows, up to a quote opened before."""
    groups = match.groupdict()
    if "value" in groups:
        return match.span("value") if groups.get("user") != match["value"] else (0, 0)
    value = values.at(match.end(), quote=groups.get("quote") or "")
    return value.start, value.end


def _in_manifests(text: str) -> Iterator[SecretSpan]:
    """Yield the values of Kubernetes' manifests of secrets, whatever they are called there."""
    start = 0
    for separator in (*re.finditer(r"(?m)^---", text), None):
        end = separator.start() if separator else len(text)
        is_data = False
        for line in _MANIFEST_LINE.finditer(text, start, end) if _IN_CLUSTER.search(text, start, end) else ():
            if not line["indent"]:
                is_data = line["name"] in {"data", "stringData"}
            elif is_data and len(line["value"]) >= _MIN_MANIFEST_CHARS and not is_stand_in(line["value"]):
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
    names = list(names_in(text))
    found: dict[tuple[int, int], SecretSpan] = {}
    for span in (*_known(text, known), *issued(text), *placed(text), *named(text, names), *in_columns(text, names)):
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
