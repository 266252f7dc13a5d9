"""Who owns which files, by the rules of GitHub's CODEOWNERS. Pure, and linear in what the file holds.

The last rule that matches a path counts; one without owners leaves the path without any.
Source: https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
"""

from __future__ import annotations

import re
from typing import Final

from bot.domain.text.linear_patterns import LinearPattern

CODEOWNERS_PATHS: Final = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where GitHub looks for it, in this order; GitLab's first place is the second."""

MAX_BYTES: Final = 3_000_000
"""GitHub reads no larger file."""

MAX_OWNERS: Final = 5
MAX_PATTERN_CHARS: Final = 200
_PIECE: Final = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\\?[^*?]")
_WILD: Final = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_COMMENT: Final = re.compile(r"(?:^|\s)#.*")
_FIELD: Final = re.compile(r"(?:\\.|[^\\\s])+")


def owners_of(codeowners: str, path: str) -> tuple[str, ...]:
    """Return who owns a path, as the file writes them: `@user`, `@org/team` or an address.

    >>> rules = "* @all\\n/docs/* @docs\\napps/ @apps # ours\\n/apps/free"
    >>> [owners_of(rules, path) for path in ("a.py", "docs/a.md", "docs/x/a.md", "src/apps/a.py", "apps/free/a.py")]
    [('@all',), ('@docs',), ('@all',), ('@apps',), ()]
    """
    owners: tuple[str, ...] = ()
    for line in codeowners.splitlines():
        pattern, *named = _FIELD.findall(_COMMENT.sub("", line)) or [""]
        if 0 < len(pattern) <= MAX_PATTERN_CHARS and not pattern.startswith(("!", "[")) and _matches(pattern, path):
            owners = tuple(one for one in named if "@" in one)
    return owners[:MAX_OWNERS]


def _matches(pattern: str, path: str) -> bool:
    """Whether a rule is about a path: anchored where a slash stands before its end, and of a folder all below it."""
    anchor = "^" if "/" in pattern[:-1] else "^(?:.*/)?"
    body = pattern.strip("/") if not pattern.endswith("/**") else pattern.lstrip("/")
    expression = "".join(_WILD.get(piece) or re.escape(piece.removeprefix("\\")) for piece in _PIECE.findall(body))
    below = "/.*" if pattern.endswith("/") else "" if pattern.endswith("/*") else "(?:/.*)?"
    return any(LinearPattern(f"{anchor}{expression}{below}$").spans(path))
