"""Markdown, as models and editors write it, becomes Slack's mrkdwn.

Pure and deterministic. markdown-it-py parses; this renders its tree. What mrkdwn cannot say is shown as text. Code is
verbatim but for the three escapes, broadcasts, and runs of backticks, which no block could hold.

The label of a link never shows another host than the one that the link leads to. Addresses are read as a browser reads
them; what cannot be read so is no link but text. A label that names a host of its own is left out where it is not the
target's, however it is spelled; other labels stand before the target's host.
Source: docs/decisions/slack-views.md; https://url.spec.whatwg.org (user info, backslashes, percent signs), Unicode NFKC
and UTS 39 (look-alikes).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Final
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.tree import SyntaxTreeNode

from blocks.text.outgoing_text import (
    disarm_mentions,
    escape,
    escape_controls,
    fence,
    link_target,
    part_ticks,
    prefix_lines,
)
from blocks.text.splitting import ZERO_WIDTH
from bot.domain.text.sanitize import claims_approval, quoted_claims, signs_in_words, without_marks

MAX_URL_CHARS: Final = 2_000
MAX_LABEL_CHARS: Final = 500

_DOTS: Final = (
    "\u00b7\u0387\u0660\u06d4\u06f0\u0701\u0702\u1427\u2022\u2024"
    "\u2027\u2219\u22c5\u25cf\u3002\u30fb\ua4f8\ua60e\uff61\uff65"
)
_COLONS: Final = "\u02d0\u02f8\u0589\u05c3\u0703\u0704\u1803\u205a\u2236\ua4fd\ua789\ufe55"
_SLASHES: Final = "\u2044\u2215\u2571\u27cb\u29f8\u3033\u30ce\u31d3\u4e3f"
_LOOK_ALIKES: Final = str.maketrans(
    {**dict.fromkeys(_DOTS, "."), **dict.fromkeys(_COLONS, ":"), **dict.fromkeys(_SLASHES, "/"), "\\": "/"}
)
_BRACKETED_DOT: Final = re.compile(r"[\[({]\s{0,3}(?:\.|dot)\s{0,3}[\])}]", re.IGNORECASE)
_SPACED_DOT: Final = re.compile(
    r"(?<=\w)[ \t]{1,3}\.[ \t]{0,3}(?=\w)|(?<=\w)\.[ \t]{1,3}(?=(?:com|net|org|io|dev|app)\b)"
)
_HOST: Final = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_][\w-]{1,61}(?![\w-])")
_ADDRESS: Final = re.compile(
    r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])|\[[0-9a-f:.]{2,45}\]|(?<![\w.-])localhost(?![\w-])"
)
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]{1,20}:/{1,3}[^\s/]|(?<![\w.])//[^\s/]")
_PLAIN_HOST: Final = re.compile(r"(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,62}\.?)*|\[[0-9a-f:.]{2,45}\]")
_TURNED: Final = frozenset("\u202a\u202b\u202d\u202e\u2066\u2067\u2068")
"""Signs that change the order in which a label is read."""

_CODE: Final = (
    "bat c cc cfg conf cpp cs css csv env ex go gradle h hpp html ini ipynb java jpg js json jsx kt lock log lua m md "
    "mjs php pl png ps1 py rb rs rst scala scss sh sql svg swift tf toml ts tsx txt vue xml yaml yml zig"
)
_FILE_ENDS: Final = frozenset(_CODE.split())
"""What a label may end in and be the name of a file; some are also ends of hosts, so the host stands behind it."""

RULE: Final = "───"
MAX_PADDED_CHARS: Final = 24
"""Of a cell of a table; the columns behind a longer one stand further to the right in its line."""

# Noncharacters mark where emphasis opens and closes until its neighbours are known.
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_MARKS: Final = {"strong": "*", "em": "_", "s": "~"}
_LINK: Final = re.compile("(<[^<>]*>)")
_DUNDER: Final = re.compile(r"__[a-z][a-z0-9_]{0,98}[a-z0-9]__(?!\w)")
_MAX_NESTING: Final = 40


def labelled_link(url: str, label: str) -> str | None:
    """Return a link to a web or mail address as `<address|label (host)>`; None where the address is none.

    >>> labelled_link("https://x.io/a", "docs"), labelled_link("https://evil.example", "www.bank.example")
    ('<https://x.io/a|docs (x.io)>', '<https://evil.example>')
    >>> labelled_link("https://good.example@evil.example/a", "good"), labelled_link("javascript:alert(1)", "x")
    ('<https://evil.example/a|good (evil.example)>', None)
    """
    read = _read(url)
    if read is None:
        return None
    address, host = read
    target = link_target(address)
    if target is None:
        return None
    shown = " ".join(_visible(label[: 2 * MAX_LABEL_CHARS]).split())
    if not shown or shown == url.strip() or is_masked(label, host):
        return f"<{target}>"
    cut = shown if len(shown) <= MAX_LABEL_CHARS else f"{shown[:MAX_LABEL_CHARS]}…"
    return f"<{target}|{part_ticks(escape(f'{cut} ({host})'))}>"


def is_masked(label: str, host: str) -> bool:
    """Whether a label shows, or could be read as, another host than `host`, or hides how it reads.

    >>> [is_masked(label, "x.io") for label in ("docs", "x.io/a", "bank\\uff0ecom", "bank.com", "config.py")]
    [False, False, True, True, False]
    """
    if not _TURNED.isdisjoint(label):
        return True
    plain = _normalised(label)
    named = [*_HOST.findall(plain), *_ADDRESS.findall(plain)]
    others = [name for name in named if name != host and not _is_file(name)]
    return bool(others) or (bool(_SCHEME.search(plain)) and host not in named)


def _is_file(name: str) -> bool:
    return name.rpartition(".")[2] in _FILE_ENDS and not name.startswith("www.")


def _normalised(label: str) -> str:
    """Return a label as it is read: look-alike signs as the plain ones, percent signs decoded, small letters."""
    text = label[: 4 * MAX_LABEL_CHARS]
    for _ in range(3):
        text = unquote(text)
    text = unicodedata.normalize("NFKC", text.translate(_LOOK_ALIKES)).translate(_LOOK_ALIKES)
    text = _BRACKETED_DOT.sub(".", _visible(text))
    return _SPACED_DOT.sub(".", text.casefold())


def _visible(text: str) -> str:
    """Return a text without signs that nobody sees."""
    unseen = ("Cf", "Cc", "Co", "Cn")
    return "".join(" " * sign.isspace() if unicodedata.category(sign) in unseen else sign for sign in text)


def _read(url: str) -> tuple[str, str] | None:
    """Return an address as a browser would open it, without user info, and its host in ASCII; None for no address."""
    if len(url) > MAX_URL_CHARS:
        return None
    clean = "".join(sign for sign in url if unicodedata.category(sign) not in ("Cf", "Cc")).strip()
    scheme, _, rest = clean.partition(":")
    if scheme.lower() == "mailto":
        domain = _ascii_host(unquote(rest).partition("?")[0].rpartition("@")[2])
        return (clean, domain) if domain else None
    if scheme.lower() not in ("http", "https"):
        return None
    authority, tail = _split(rest)
    host_and_port = authority.rpartition("@")[2]
    try:
        parts = urlsplit(f"//{host_and_port}")
        host, port = _ascii_host(unquote(parts.hostname or "")), parts.port
    except ValueError:
        return None
    if host is None:
        return None
    return f"{scheme.lower()}://{host}{f':{port}' if port is not None else ''}{tail}", host


def _split(rest: str) -> tuple[str, str]:
    """Return what names the host, and what follows it; up to the query a backslash counts as a slash."""
    end = min((at for sign in "?#" if (at := rest.find(sign)) >= 0), default=len(rest))
    path = rest[:end].replace("\\", "/").lstrip("/")
    authority, slash, tail = path.partition("/")
    return authority, f"{slash}{tail}{rest[end:]}"


def _ascii_host(name: str) -> str | None:
    """Return a host as DNS knows it: an international one begins with `xn--`; None for what is no host."""
    plain = unicodedata.normalize("NFKC", name.translate(_LOOK_ALIKES)).casefold().rstrip(".")
    host: str = plain
    if not plain.isascii():
        try:
            host = plain.encode("idna").decode("ascii")
        except UnicodeError:
            return None
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return host if _PLAIN_HOST.fullmatch(host) else None


def to_mrkdwn(markdown: str, *, keep_emoji: bool = False) -> str:
    r"""Return Markdown as mrkdwn that broadcasts to nobody, mentions nobody, sets no mark and approves nothing.

    `keep_emoji`: names of emoji stay but those of marks. A line that claims an approval has no emphasis.

    >>> to_mrkdwn("# Why\n**Because** of `a < b`, see [docs](https://x.io)")
    '*Why*\n\n*Because* of `a &lt; b`, see <https://x.io|docs (x.io)>'
    """
    text = re.sub(f"[{_OPEN}{_CLOSE}]", "\ufffd", markdown.encode("utf-8", "replace").decode())
    root = SyntaxTreeNode(_PARSER.parse(text))
    return disarm_mentions(_Renderer(keep_emoji).blocks(root.children))


class _Renderer:
    """Turns one tree into text, blocks by `blocks`, what stands inside a line by `line`."""

    def __init__(self, keep_emoji: bool) -> None:
        self._keep_emoji = keep_emoji

    def blocks(self, nodes: Iterable[SyntaxTreeNode], gap: str = "\n\n") -> str:
        return gap.join(self._block(node) for node in nodes)

    def _block(self, node: SyntaxTreeNode) -> str:
        render: dict[str, Callable[[SyntaxTreeNode], str]] = {
            "paragraph": lambda node: self.line(node.children),
            "heading": lambda node: _settle(self._emphasis("*", self._said(node.children, ("*",)))),
            "bullet_list": self._list,
            "ordered_list": self._list,
            "blockquote": lambda node: prefix_lines(self.blocks(node.children), "> "),
            "fence": lambda node: fence(node.content),
            "code_block": lambda node: fence(node.content),
            "table": lambda node: fence(_table(node)),
            "hr": lambda _: RULE,
        }
        return render[node.type](node)

    def _list(self, node: SyntaxTreeNode) -> str:
        first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
        items = []
        for index, item in enumerate(node.children):
            marker = "• " if first is None else f"{first + index}. "
            items.append(marker + prefix_lines(self.blocks(item.children, "\n"), "    ", first=""))
        return "\n".join(items)

    def line(self, nodes: Iterable[SyntaxTreeNode]) -> str:
        return _settle(self._said(nodes, ()))

    def _said(self, nodes: Iterable[SyntaxTreeNode], within: tuple[str, ...]) -> str:
        """Return what stands inside a line; without its emphasis where that hides a claim of approval."""
        nodes = list(nodes)
        parts = _LINK.split(self._inline(nodes, tuple(_MARKS.values())))
        if not any(claims_approval(part) for part in parts[::2]):
            return self._inline(nodes, within)
        return "".join(part if part[:1] == "<" else quoted_claims(part) for part in parts)

    def _inline(self, nodes: Iterable[SyntaxTreeNode], within: tuple[str, ...]) -> str:
        return "".join(self._span(node, within) for node in nodes)

    def _span(self, node: SyntaxTreeNode, within: tuple[str, ...]) -> str:
        if node.type in ("softbreak", "hardbreak"):
            return "\n"
        if node.type == "code_inline":
            return f"`{part_ticks(escape_controls(signs_in_words(node.content)))}`"
        if node.type in ("link", "image"):
            return self._link(node)
        if node.type not in _MARKS:
            return self._inline(node.children, within) if node.children else self._text(node.content)
        mark = _MARKS[node.type]
        inner = self._inline(node.children, (*within, mark))
        return inner if mark in within else self._emphasis(mark, inner)

    def _text(self, text: str) -> str:
        before = "x" if text[:1].isspace() else ""  # it goes on behind other words: it begins no line
        return escape(before + text, keep_emoji=self._keep_emoji).removeprefix(before)

    def _emphasis(self, mark: str, inner: str) -> str:
        """Return each line of `inner` between marks, since mrkdwn's emphasis ends with its line."""
        lines = inner.split("\n")
        return "\n".join(f"{_OPEN}{mark}{line}{mark}{_CLOSE}" if line.strip() else line for line in lines)

    def _link(self, node: SyntaxTreeNode) -> str:
        image = node.type == "image"
        label = " ".join((node.content if image else _shown(node)).split())
        url = str(node.attrs.get("src" if image else "href", ""))
        if node.markup == "autolink" and "|" in label:  # Slack's own form, which a browser would not read so
            url, _, label = label.partition("|")
        link = labelled_link(url, "" if node.markup == "autolink" and label in url else label)
        return self._text(f"{label} ({url})" if url else label) if link is None else link


def _settle(text: str) -> str:
    """Return `text` with emphasis set off from letters it touches; Slack would ignore it otherwise."""
    text = re.sub(f"(?<=[^\\W_]){_OPEN}|{_CLOSE}(?=[^\\W_])", ZERO_WIDTH, text)
    return text.replace(_OPEN, "").replace(_CLOSE, "")


def _table(node: SyntaxTreeNode) -> str:
    """Return a table as lines of columns, its header underlined."""
    rows = [
        [without_marks(" ".join(_shown(cell).split())) for cell in row.children]
        for row in node.walk()
        if row.type == "tr"
    ]
    widths = [min(max(len(cell) for cell in column), MAX_PADDED_CHARS) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _shown(node: SyntaxTreeNode) -> str:
    return "".join(_texts(node))


def _texts(node: SyntaxTreeNode) -> Iterator[str]:
    for part in node.walk():
        if not part.children and part.type != "inline":
            yield " " if part.type in ("softbreak", "hardbreak") else part.content


def _dunder(state: StateInline, silent: bool) -> bool:
    """Keep `__init__` as it is: in an engineers' channel that is a name, not bold."""
    found = _DUNDER.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.pending += found[0]
    state.pos = found.end()
    return True


def _parser() -> MarkdownIt:
    """Return CommonMark with tables and strike-through; HTML and link definitions stay text instead of vanishing."""
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _MAX_NESTING})
    parser.enable(["table", "strikethrough"]).disable(["html_block", "html_inline", "reference"])
    parser.inline.ruler.before("emphasis", "dunder", _dunder)
    return parser


_PARSER: Final = _parser()
