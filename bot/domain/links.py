"""Links from a citation to the code host, where the git remote says which one it is. Pure.

Source: the hosts' own permalink forms, https://docs.github.com/repositories/working-with-files/using-files and alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

from bot.domain.returns import EvidenceKind, EvidenceRef

_REMOTE = re.compile(r"(?:https?://|ssh://)?(?:[^@/]+@)?(?P<host>[\w.-]+)(?::\d+)?[:/](?P<path>[\w./~-]+?)(?:\.git)?/?")
_LINES = re.compile(r"(?P<path>.+):(?P<start>\d+)(?:-(?P<end>\d+))?")


def code_links(remote: str | None) -> Callable[[EvidenceRef], str | None]:
    """Return a function from a citation to its URL; it returns None where there is no such URL.

    >>> ref = EvidenceRef(kind=EvidenceKind.FILE, ref="a/b.py:3-9", commit="f00")
    >>> code_links("git@github.com:acme/shop.git")(ref)
    'https://github.com/acme/shop/blob/f00/a/b.py#L3-L9'
    """
    match = _REMOTE.fullmatch(remote or "")
    host = match["host"] if match else ""
    style = next((style for name, style in _STYLES.items() if name in host), None)
    if match is None or style is None:
        return lambda _: None
    base = f"https://{host}/{match['path'].lstrip('/')}"

    def link(ref: EvidenceRef) -> str | None:
        lines = _LINES.fullmatch(ref.ref)
        if ref.kind is not EvidenceKind.FILE or ref.commit is None or lines is None:
            return None
        return base + style(ref.commit, quote(lines["path"]), lines["start"], lines["end"] or lines["start"])

    return link


_STYLES: dict[str, Callable[[str, str, str, str], str]] = {
    "github": lambda commit, path, start, end: f"/blob/{commit}/{path}#L{start}-L{end}",
    "gitlab": lambda commit, path, start, end: f"/-/blob/{commit}/{path}#L{start}-{end}",
    "bitbucket": lambda commit, path, start, end: f"/src/{commit}/{path}#lines-{start}:{end}",
}
