"""Markdown, as models and editors write it, becomes Slack's mrkdwn.

Pure and deterministic. markdown-it-py parses; this renders its tree. What mrkdwn cannot say is shown as text. Code is
verbatim but for the three escapes, broadcasts, and runs of backticks, which no block could hold.
Source: docs/decisions/mrkdwn.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.tree import SyntaxTreeNode

from blocks.text.escaping import ZERO_WIDTH, disarm_mentions, escape, escape_controls, fence, part_ticks, prefix_lines
from blocks.text.link_labels import labelled_link

RULE: Final = "───"
MAX_PADDED_CHARS: Final = 100  # of a line of a table; Slack wraps longer ones, and padding then only confuses
UNPADDED_GAP, UNPADDED_RULE = " | ", "---"

# Noncharacters mark where emphasis opens and closes until its neighbours are known.
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_MARKS: Final = {"strong": "*", "em": "_", "s": "~"}
_DUNDER: Final = re.compile(r"__[a-z][a-z0-9_]{0,98}[a-z0-9]__(?!\w)")
_MAX_NESTING: Final = 40


def to_mrkdwn(markdown: str) -> str:
    r"""Return Markdown as mrkdwn that broadcasts to nobody and mentions nobody.

    >>> to_mrkdwn("# Why\n**Because** of `a < b`, see [docs](https://x.io)")
    '*Why*\n\n*Because* of `a &lt; b`, see <https://x.io|docs (x.io)>'
    """
    text = re.sub(f"[{_OPEN}{_CLOSE}]", "\ufffd", markdown.encode("utf-8", "replace").decode())
    root = SyntaxTreeNode(_PARSER.parse(text))
    return disarm_mentions(_Renderer().blocks(root.children))


class _Renderer:
    """Turns one tree into text, blocks by `blocks`, what stands inside a line by `line`."""

    def blocks(self, nodes: Iterable[SyntaxTreeNode], gap: str = "\n\n") -> str:
        return gap.join(self._block(node) for node in nodes)

    def _block(self, node: SyntaxTreeNode) -> str:
        render: dict[str, Callable[[SyntaxTreeNode], str]] = {
            "paragraph": lambda node: self.line(node.children),
            "heading": lambda node: _settle(self._emphasis("*", self._inline(node.children, ("*",)))),
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
        return _settle(self._inline(nodes, ()))

    def _inline(self, nodes: Iterable[SyntaxTreeNode], within: tuple[str, ...]) -> str:
        return "".join(self._span(node, within) for node in nodes)

    def _span(self, node: SyntaxTreeNode, within: tuple[str, ...]) -> str:
        if node.type in ("softbreak", "hardbreak"):
            return "\n"
        if node.type == "code_inline":
            return f"`{part_ticks(escape_controls(node.content))}`"
        if node.type in ("link", "image"):
            return self._link(node)
        if node.type not in _MARKS:
            return self._inline(node.children, within) if node.children else self._text(node.content)
        mark = _MARKS[node.type]
        inner = self._inline(node.children, (*within, mark))
        return inner if mark in within else self._emphasis(mark, inner)

    def _text(self, text: str) -> str:
        return part_ticks(escape(text))

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
    """Return a table as lines of columns, its header underlined; padded where that costs little."""
    rows = [[" ".join(_shown(cell).split()) for cell in row.children] for row in node.walk() if row.type == "tr"]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    if not _is_worth_padding(rows, widths):
        rows.insert(1, [UNPADDED_RULE])
        return "\n".join(UNPADDED_GAP.join(_filled(row)) for row in rows)
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _is_worth_padding(rows: Sequence[Sequence[str]], widths: Sequence[int]) -> bool:
    """Whether a table's columns fit on a screen and its padding is not most of it; the last column has none."""
    padded = sum(widths[:-1])
    content = sum(len(cell) for row in rows for cell in row)
    return padded <= MAX_PADDED_CHARS and padded * len(rows) <= 3 * content + 300


def _filled(row: Sequence[str]) -> Sequence[str]:
    """Return a row without the empty cells at its end."""
    return row[: max((number for number, cell in enumerate(row, start=1) if cell), default=0)]


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
