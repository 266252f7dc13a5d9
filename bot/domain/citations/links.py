"""Links from a citation to the code host, where the git remote and the settings say which one it is. Pure.

Only scheme, host, port and path of the remote get into a link: no user name, token or query ever does. What is not
understood gives no link rather than a guess.
Source: the hosts' own forms, https://docs.github.com/repositories/working-with-files/using-files,
https://docs.gitlab.com/user/project/repository/files/, https://docs.gitea.com; those of Bitbucket Data Center as its
pages show them (`/projects/<key>/repos/<repository>/browse/<path>?at=<commit>#<start>-<end>`).

Links to chat messages, made from one that is known: no request, so that a list of many opens at once. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple
from urllib.parse import quote, urlsplit

from bot.domain.citations.citation_lines import parse_lines
from bot.domain.returns import EvidenceKind, EvidenceRef

_KNOWN = re.compile(r"(https?://[^/\s<>|]+)/archives/[^\s<>|]+")

LinkTo = Callable[[EvidenceRef], str | None]
"""From a citation to its URL; None where it has none."""

CodeHost = Literal["github", "gitlab", "bitbucket", "bitbucket-server", "gitea"]
"""A kind of web page that shows a git repository: `bitbucket` is the Cloud, one's own (Data Center) is
`bitbucket-server`; `gitea` is Forgejo as well."""

_NAMES: Final[Sequence[tuple[str, CodeHost]]] = (
    ("github", "github"),
    ("gitlab", "gitlab"),
    ("bitbucket.org", "bitbucket"),
    ("bitbucket", "bitbucket-server"),
    ("gitea", "gitea"),
    ("forgejo", "gitea"),
    ("codeberg.org", "gitea"),
)
"""What in a host's name tells its kind; the first that fits."""

_SSH_DOORS: Final = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
"""Hosts that take SSH on port 443, and where the pages are."""

_SCP: Final = re.compile(r"(\[)?(?:[^/@\s]*@)?(?P<host>[^/:@\s\[\]]+)(?(1)(?::\d+)?\]):(?P<path>[^:?#]*)")
_HOST: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
_ADDRESS: Final = re.compile(r".+\.(?:[a-z]{2,}|xn--[a-z0-9-]+|\d{1,3})")
"""A host that is no alias of somebody's ssh config, as `work` and `github.com-work` are."""

_SCHEMES: Final = frozenset({"http", "https", "ssh", "git", "git+ssh", "ssh+git"})
_PATH: Final = re.compile(r"(?:~?[\w.-]+/)+[\w.-]+", re.ASCII)
_SHA: Final = re.compile(r"[0-9a-f]{7,64}")
_RENDERED: Final = re.compile(r"\.(?:md|markdown|mdx|mdown|mkd|rst|adoc|asciidoc|textile|org)$", re.IGNORECASE)


def sibling_message_link(permalink: str | None, channel: str, ts: str) -> str | None:
    """Return the link of another message of the same workspace; None where the known one has not Slack's form.

    >>> sibling_message_link("https://acme.slack.com/archives/C1/p1700000000000100", "C0OPS", "1700000001.000200")
    'https://acme.slack.com/archives/C0OPS/p1700000001000200'
    """
    known = _KNOWN.fullmatch(permalink or "")
    return f"{known[1]}/archives/{channel}/p{ts.replace('.', '')}" if known else None


class _Form(NamedTuple):
    """What follows the repository's page; `rendered` makes a page that is laid out show its lines."""

    file: str
    commit: str
    rendered: str = ""


_FORMS: Final[Mapping[CodeHost, _Form]] = {
    "github": _Form("/blob/{commit}/{path}{query}#L{start}-L{end}", "/commit/{commit}", "?plain=1"),
    "gitlab": _Form("/-/blob/{commit}/{path}{query}#L{start}-{end}", "/-/commit/{commit}", "?plain=1"),
    "bitbucket": _Form("/src/{commit}/{path}#lines-{start}:{end}", "/commits/{commit}"),
    "bitbucket-server": _Form("/browse/{path}?at={commit}#{start}-{end}", "/commits/{commit}"),
    "gitea": _Form("/src/commit/{commit}/{path}{query}#L{start}-L{end}", "/commit/{commit}", "?display=source"),
}


def code_links(remote: str | None, kind: CodeHost | None = None) -> LinkTo:
    """Return a function from a citation of a file or a commit to its URL; it returns None where there is no such URL.

    Args:
        remote: What `git remote get-url` says, in any of git's spellings.
        kind: What the host is, where its name does not say; a kind that is given counts more than the name.

    >>> ref = EvidenceRef(kind=EvidenceKind.FILE, ref="a/b.py:3-9", commit="f00dfeed")
    >>> code_links("git@github.com:acme/shop.git")(ref)
    'https://github.com/acme/shop/blob/f00dfeed/a/b.py#L3-L9'
    >>> code_links("ssh://git@git.acme.io:7999/web/shop.git", "bitbucket-server")(ref)
    'https://git.acme.io/projects/web/repos/shop/browse/a/b.py?at=f00dfeed#3-9'
    """
    repository = code_repository(remote, kind)
    if repository is None:
        return lambda _: None
    base, form = _page(repository), _FORMS[repository.kind]

    def link(ref: EvidenceRef) -> str | None:
        rest = _of_file(form, ref) if ref.kind is EvidenceKind.FILE else _of_commit(form, ref)
        return base + rest if rest is not None else None

    return link


class CodeRepository(NamedTuple):
    """A repository on a code host: `origin` such as `https://github.com`, `path` such as `acme/shop`."""

    kind: CodeHost
    origin: str
    path: str


def code_repository(remote: str | None, kind: CodeHost | None = None) -> CodeRepository | None:
    """Return which repository of which host a remote is, as `code_links` reads it; None where that is not known.

    >>> code_repository("git@github.com:acme/shop.git")
    CodeRepository(kind='github', origin='https://github.com', path='acme/shop')
    """
    place = _place(remote or "")
    if place is None:
        return None
    kind = kind or next((one for name, one in _NAMES if name in place[0]), None)
    return CodeRepository(kind, *place) if kind else None


def _of_file(form: _Form, ref: EvidenceRef) -> str | None:
    lines = parse_lines(ref.ref)
    if lines is None or lines.problem() or not _SHA.fullmatch(ref.commit or ""):
        return None
    query = form.rendered if _RENDERED.search(lines.path) else ""
    try:
        path = quote(lines.path.encode("utf-8", "surrogateescape"))  # git's own bytes, whatever their encoding
    except UnicodeEncodeError:
        return None
    return form.file.format(commit=ref.commit, path=path, query=query, start=lines.start, end=lines.end)


def _of_commit(form: _Form, ref: EvidenceRef) -> str | None:
    sha = ref.commit or ref.ref
    return form.commit.format(commit=sha) if ref.kind is EvidenceKind.GIT_COMMIT and _SHA.fullmatch(sha) else None


def _place(remote: str) -> tuple[str, str] | None:
    """Return scheme, host and port of a remote's pages, and its path.

    None for a folder, an alias of somebody's ssh config, or what is no remote at all.
    """
    match = None if "://" in remote else _SCP.fullmatch(remote)
    try:
        url = urlsplit(f"ssh://{match['host']}/{match['path']}" if match else remote)
        scheme, host, port = url.scheme, url.hostname or "", url.port
    except ValueError:
        return None
    path = url.path.strip("/").removesuffix(".git")
    is_place = _HOST.fullmatch(host) and _PATH.fullmatch(path) and {".", ".."}.isdisjoint(path.split("/"))
    if not is_place or scheme not in _SCHEMES or ("ssh" in scheme and not _ADDRESS.fullmatch(host)):
        return None
    host, is_web = _SSH_DOORS.get(host, host), scheme in ("http", "https")
    door = f":{port}" if port and is_web else ""  # other ports are not those of the pages
    return f"{scheme if is_web else 'https'}://{host}{door}", path


def _page(repository: CodeRepository) -> str:
    """Return the address of the repository's own page."""
    if repository.kind != "bitbucket-server":
        return f"{repository.origin}/{repository.path}"
    *above, project, name = repository.path.split("/")
    above = above[:-1] if above[-1:] == ["scm"] else above  # what clones over HTTP have, below the server's own folder
    owner = f"users/{project[1:]}" if project.startswith("~") else f"projects/{project}"
    return "/".join([repository.origin, *above, owner, "repos", name])
