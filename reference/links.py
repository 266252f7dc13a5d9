"""Links of the pages that lead nowhere: a file that is not there, a heading that no longer has that name.

Addresses on the web are not looked at. Headings become anchors as GitHub makes them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from os.path import normpath
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from markdown_it.token import Token

from reference.markdown import parsed

_KEPT: Final = re.compile(r"[^\w\- ]")


def dead_links(pages: Sequence[Path], root: Path) -> Iterator[str]:
    """Yield a line for each link or image that leads nowhere."""
    for page in pages:
        for link in links(page.read_text(encoding="utf-8")):
            if wrong := _wrong(link, page, root):
                yield f"{page.relative_to(root).as_posix()}: the link {link!r} {wrong}"


def links(text: str) -> Iterator[str]:
    """Yield where a page's links and images lead.

    >>> list(links("[a](b.md#c) and `[d](e.md)` and ![f](g.png)"))
    ['b.md#c', 'g.png']
    """
    for token in _inline(text):
        target = token.attrGet("href") if token.type == "link_open" else token.attrGet("src")
        if target:
            yield str(target)


def anchors(text: str) -> frozenset[str]:
    """Return what a page's headings are linked by; the second of one name has `-1` behind it.

    >>> sorted(anchors("# On `a.b`\\n\\n## Twice\\n\\n## Twice"))
    ['on-ab', 'twice', 'twice-1']
    """
    seen: Counter[str] = Counter()
    found = []
    for heading, inline in pairwise(parsed(text)):
        if heading.type == "heading_open":
            words = "".join(part.content for part in inline.children or () if part.type in ("text", "code_inline"))
            slug = _KEPT.sub("", words.lower()).replace(" ", "-")
            found.append(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
    return frozenset(found)


def _wrong(link: str, page: Path, root: Path) -> str | None:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    target = Path(normpath(page.parent / unquote(parts.path))) if parts.path else page
    if not target.is_relative_to(root) or not target.exists():
        return "leads to no file"
    if parts.fragment and target.suffix == ".md" and parts.fragment not in anchors(target.read_text(encoding="utf-8")):
        return "names no heading there"
    return None


def _inline(text: str) -> Iterator[Token]:
    for token in parsed(text):
        yield from (child for child in token.children or () if child.type in ("link_open", "image"))
