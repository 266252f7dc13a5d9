"""What is wrong with a view as it is drawn: text that is cut, and marks of the language that a reader should not see.

What stands in code is drawn as it is written, and left out of the search for left-over marks.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any, Final

from playwright.sync_api import Locator

_LEFT_OVER: Final = (
    ("an entity", re.compile(r"&(?:amp|lt|gt|quot|#\d+);")),
    ("a token of Slack's", re.compile(r"<(?:[@#!]|https?:)[^>\s]*>?")),
    ("an emoji nobody draws", re.compile(r"(?<![\w:]):[a-z][a-z_]+:(?![\w:])")),
    ("bold that is not drawn", re.compile(r"(?<!\w)\*\S[^*\n]*\*(?!\w)")),
    ("italics that are not drawn", re.compile(r"(?<!\w)_\S[^_\n]*\S_(?!\w)")),
    ("a value of Python's", re.compile(r"\b(?:None|True|False|Traceback)\b|<[a-z_.]+ object")),
    ("a separator with nothing behind it", re.compile(r"·\s*(?:\n|$)|(?:^|\n)\s*·|·\s*·")),
)
_LOOK: Final = """root => {
  const all = [root, ...root.querySelectorAll('*')];
  const name = one => one.tagName.toLowerCase() + (one.className ? '.' + one.className : '');
  const wide = all.filter(one => one.clientWidth && one.scrollWidth > one.clientWidth + 1
    && !['SELECT', 'OPTION', 'INPUT'].includes(one.tagName));
  const outside = all.filter(one => one.getBoundingClientRect().right > root.getBoundingClientRect().right + 1);
  const code = [...root.querySelectorAll('pre, code')];
  return {
    cut: [...wide, ...outside].map(one => name(one) + ' ' + one.innerText.slice(0, 80)),
    labels: [...root.querySelectorAll('button, option')].map(one => one.innerText),
    unknown: [...root.querySelectorAll('.bk-unknown')].map(one => one.innerText),
    text: root.innerText,
    prose: code.reduce((all, one) => all.replace(one.innerText, 'code'), root.innerText),
  };
}"""


_ASKS = ("Same as…", "Hand to…")
"""The labels of buttons that ask for more; they end so."""


def flaws(view: Locator, said: tuple[str, ...] = ()) -> list[str]:
    """Return what is wrong with a drawn view, in words; `said` are texts that stand in it whole or end in "…"."""
    seen: dict[str, Any] = view.evaluate(_LOOK)
    found = [f"wider than its place: {what}" for what in seen["cut"]]
    found += [f"a label that was cut: {label}" for label in seen["labels"] if "…" in label and label not in _ASKS]
    found += [f"a block Slack's page does not know: {what}" for what in seen["unknown"]]
    return [*found, *left_over(seen["prose"]), *cut_words(seen["text"], said)]


def left_over(text: str) -> Iterator[str]:
    """Yield marks that Slack would have drawn.

    >>> list(left_over("5 &lt; 6, *so* it is"))
    ['an entity: &lt;', 'bold that is not drawn: *so*']
    """
    if "```" in text:
        yield "a code block that is not drawn"
    for what, pattern in _LEFT_OVER:
        for match in pattern.finditer(text):
            yield f"{what}: {match[0].strip()}"


def cut_words(text: str, said: tuple[str, ...]) -> Iterator[str]:
    """Yield each text of which only the beginning stands there, without the sign for it.

    >>> list(cut_words("It says: retry the pay · low", ("retry the payment gateway",)))
    ['cut without a sign: retry the pay']
    >>> list(cut_words("It says: retry the pay… · low", ("retry the payment gateway",)))
    []
    """
    shown = " ".join(html.unescape(text).replace("`", "").split())
    for whole in (" ".join(each.split()) for each in said):
        begins = next((whole[:size] for size in range(len(whole), 11, -1) if whole[:size] in shown), "")
        if not begins:
            yield f"not there at all: {whole[:40]}"
        elif begins != whole and not any(f"{begins.rstrip()}{sign}" in shown for sign in ("…", " …")):
            yield f"cut without a sign: {begins}"
