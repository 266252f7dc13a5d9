"""Finds credentials in text, and blacks them out; the values found never leave this module.

Pure. Redact before truncating: half a token is still a leak and no longer matches. A value is known by the form that
its issuer gave it, else by the name before it or its place (secret_names), or by the heading above it (secret_columns).
The time is proportional to the text's length.
Source: the issuers' published forms; the rule and why no library, docs/decisions/secret-patterns.md.

Credentials in a column whose heading names them: of tables, of files such as CSV, of the rows of an SQL insert.

Pure. A heading is a line of nothing but short names between signs of one kind; its rows are the lines below it that
have such signs, too. No line is a row below two headings, so the time is proportional to the text's length.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Iterator, Sequence
from typing import Any, Final

from bot.domain.secret_forms import SecretSpan, is_secret
from bot.domain.secret_names import Name
from bot.domain.text.sanitize import strip_hidden

_IN_CLUSTER: Final = re.compile(r"(?m)^kind:[ \t]{1,8}Secret\b")
_DOCUMENT: Final = re.compile(r"(?ms)(?:(?!^---).)+")
_DATA: Final = re.compile(r"(?m)^(?:data|stringData):[ \t]*\n(?>(?:[ \t].*\n?)*)")
_ENTRY: Final = re.compile(r"(?m)^[ \t]{1,20}[\w.-]{1,100}:[ \t]{1,20}(?P<value>.{3,})")

MIN_KNOWN_CHARS: Final = 8
OWN_SECRET: Final = "secret of this process"  # noqa: S105 - the name of a kind
_MAX_PASSES: Final = 4
HIDDEN: Final = "[redacted]"
_HUNK: Final = re.compile(r"^(@@ -\S+ \+\S+ @@).*$", re.M)
_ENCODED: Final = re.compile(r"^[ +-](?![0-9a-fA-F]+$)[A-Za-z0-9+/]{48,}={0,2}$", re.M)


def _in_manifests(text: str) -> Iterator[SecretSpan]:
    """Yield the values of Kubernetes' manifests of secrets, whatever they are called there."""
    from bot.domain.secret_forms import SecretSpan, is_stand_in

    for document in _DOCUMENT.finditer(text) if _IN_CLUSTER.search(text) else ():
        for data in _DATA.finditer(text, *document.span()) if _IN_CLUSTER.search(document[0]) else ():
            for entry in _ENTRY.finditer(text, *data.span()):
                if not is_stand_in(entry["value"]):
                    yield SecretSpan(*entry.span("value"), "secret")


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
    kept = frozenset(redacted)
    return redacted if len(redacted) == len(lines) else [line if line in kept else HIDDEN for line in lines]


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
    from bot.domain.secret_forms import issued
    from bot.domain.secret_names import named, names_in, placed
    from bot.domain.text.linear_patterns import encodable

    text = encodable(text)
    names = list(names_in(text))
    found: dict[tuple[int, int], SecretSpan] = {}
    for span in (
        *_known(text, known),
        *issued(text),
        *placed(text),
        *_in_manifests(text),
        *named(text, names),
        *in_columns(text, names),
    ):
        found.setdefault((span.start, span.end), span)
    return sorted(found.values(), key=lambda span: (span.start, -span.end))


def _known(text: str, known: Collection[str]) -> Iterator[SecretSpan]:
    from bot.domain.secret_forms import SecretSpan

    for value in known:
        for match in re.finditer(re.escape(value), text) if len(value) >= MIN_KNOWN_CHARS else ():
            yield SecretSpan(*match.span(), OWN_SECRET)


_QUOTED: Final = r"(?<![\w\\])(?:'(?>(?:[^'\\]|''|\\.){0,4000})'|\"(?>(?:[^\"\n]|\"\"){0,4000})\")|\([^()'\"]{0,200}\)"
_PARTING: Final = {"|": r"\|", "\u2502": "\u2502", "\t": "\t", ";": ";", "  ": " {2,}", ",": ",(?! )"}
_SIGNS: Final = {sign: re.compile(rf"{pattern}|{_QUOTED}", re.S) for sign, pattern in _PARTING.items()}
_LIST: Final = re.compile(rf",|{_QUOTED}", re.S)
_RULE: Final = re.compile(r"[-+|:=> \t\r\u2500-\u257f]+")
_NAME: Final = re.compile(r"(?P<name>[\w.#-]{1,40}(?: [\w.-]{1,40}){0,3})(?: ?\([^()]{1,40}\))?")
_AROUND: Final = " \t\r`*\"':>"
_MAX_HEADING_CHARS: Final = 1_000
_INSERT: Final = re.compile(
    r"(?i:\binto\s{1,40}[\w.\"`\[\]]{1,100}\s{0,40})\((?P<names>[^()]{1,1000})\)(?i:\s{0,40}values)"
)
_ROW: Final = re.compile(rf"[\s,]{{0,40}}\((?P<cells>(?>(?:{_QUOTED}|[^()'])*))\)", re.S)

_Cell = tuple[int, int]


def in_columns(text: str, names: Sequence[Name]) -> Iterator[SecretSpan]:
    """Yield where a credential stands below one of the names for one."""
    text += "\n"
    kinds_by_end = {name.end: name.kind for name in names if name.is_telling}
    done = 0
    for name in names:
        if name.start >= done:
            start, done = text.rfind("\n", 0, name.start) + 1, text.index("\n", name.start)
            heading = text[start:done] if done - start <= _MAX_HEADING_CHARS else ""
            for sign in (pattern for sign, pattern in _SIGNS.items() if sign in heading):
                kinds = _kinds(text, _cells(text, start, done, sign), kinds_by_end)
                if any(kinds):
                    done = yield from _below(text, done, sign, kinds)
                    break
    for insert in _INSERT.finditer(text) if kinds_by_end else ():
        kinds = _kinds(text, _cells(text, *insert.span("names"), _LIST), kinds_by_end)
        row = _ROW.match(text, insert.end()) if any(kinds) else None
        while row:
            yield from _in_row(text, kinds, _cells(text, *row.span("cells"), _LIST))
            row = _ROW.match(text, row.end())


def _kinds(text: str, cells: Sequence[_Cell], kinds_by_end: dict[int, str]) -> list[str]:
    """Return the kind of credential that each cell of a heading names, "" for none; [] for what is no heading."""
    names = [_NAME.fullmatch(text, *cell) for cell in cells]
    is_heading = sum(map(bool, names)) > 1 and all(
        name or start >= end for name, (start, end) in zip(names, cells, strict=True)
    )
    return [kinds_by_end.get(name.end("name"), "") if name else "" for name in names] if is_heading else []


def _below(text: str, done: int, sign: re.Pattern[str], kinds: Sequence[str]) -> Generator[SecretSpan, None, int]:
    """Yield the credentials of the rows behind `done`, the end of their heading; return the end of the last row."""
    while done < len(text) - 1:
        start, end = done + 1, text.index("\n", done + 1)
        cells = _cells(text, start, end, sign)
        if len(cells) < 2 and not _RULE.fullmatch(text, start, end):
            break
        yield from _in_row(text, kinds, cells)
        done = end
    return done


def _in_row(text: str, kinds: Sequence[str], cells: Sequence[_Cell]) -> Iterator[SecretSpan]:
    for kind, (start, end) in zip(kinds, cells, strict=False):  # a row may end without the sign, or too early
        if kind and is_secret(text[start:end], kind, "value"):
            yield SecretSpan(start, end, kind)


def _cells(text: str, start: int, end: int, sign: re.Pattern[str]) -> list[_Cell]:
    """Return where the cells of a row stand, without what is around their words; what is in quotes parts none."""
    cuts = [match for match in sign.finditer(text, start, end) if match[0][0] not in "'\"("]
    edges = [start, *(edge for cut in cuts for edge in cut.span()), end]
    return [_stripped(text, *cell) for cell in zip(edges[::2], edges[1::2], strict=True)]


def _stripped(text: str, start: int, end: int) -> _Cell:
    start = end - len(text[start:end].lstrip(_AROUND))
    return start, start + len(text[start:end].rstrip(_AROUND))
