"""Links from citations to the code host."""

from __future__ import annotations

from typing import get_args
from urllib.parse import unquote, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.citations.citation_lines import parse_lines
from bot.domain.citations.links import CodeHost, code_links
from bot.domain.returns import EvidenceKind, EvidenceRef
from tests.tables import each_row

SHA = "f00" * 13 + "f"
REF = EvidenceRef(kind=EvidenceKind.FILE, ref="a/b.py:3-9", commit=SHA)
COMMIT = EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref=SHA)
HOSTS = get_args(CodeHost)
GITHUB = "git@github.com:acme/shop.git"


@each_row(
    "remote",
    [
        GITHUB,
        "https://github.com/acme/shop.git",
        "HTTPS://GitHub.com/acme/shop",
        "ssh://git@ssh.github.com:443/acme/shop.git",
        "https://someone:ghp_secret@github.com/acme/shop.git",
    ],
)
def test_every_spelling_of_a_remote_gives_one_link(remote: str) -> None:
    """HTTPS, SSH and scp spellings lead to the same page, and a token in the remote never gets into a link."""
    link = code_links(remote)
    assert link(REF) == f"https://github.com/acme/shop/blob/{SHA}/a/b.py#L3-L9"
    assert link(COMMIT) == f"https://github.com/acme/shop/commit/{SHA}"


@each_row(
    "remote, file, commit",
    [
        ("git@gitlab.acme.io:group/sub/shop.git", "gitlab.acme.io/group/sub/shop/-/blob/{}/a/b.py#L3-9", "/-/commit/"),
        ("git@bitbucket.org:acme/shop.git", "bitbucket.org/acme/shop/src/{}/a/b.py#lines-3:9", "/commits/"),
        (
            "ssh://git@bitbucket.acme.io:7999/web/shop.git",
            "bitbucket.acme.io/projects/web/repos/shop/browse/a/b.py?at={}#3-9",
            "/commits/",
        ),
        (
            "https://bitbucket.acme.io/scm/WEB/shop.git",
            "bitbucket.acme.io/projects/WEB/repos/shop/browse/a/b.py?at={}#3-9",
            "/commits/",
        ),
        (
            "https://bitbucket.acme.io:8443/code/scm/~joe/shop.git",
            "bitbucket.acme.io:8443/code/users/joe/repos/shop/browse/a/b.py?at={}#3-9",
            "/commits/",
        ),
        ("git@codeberg.org:acme/shop.git", "codeberg.org/acme/shop/src/commit/{}/a/b.py#L3-L9", "/commit/"),
    ],
)
def test_each_host_has_its_own_form(remote: str, file: str, commit: str) -> None:
    """Each marks lines in its own way; Bitbucket's own-server product is not its Cloud."""
    link = code_links(remote)
    assert link(REF) == f"https://{file.format(SHA)}"
    assert str(link(COMMIT)).endswith(commit + SHA)


def test_a_host_that_says_nothing_by_its_name_is_what_the_settings_say() -> None:
    """The port of an HTTP remote is that of the pages, that of SSH is not."""
    assert code_links("https://code.acme.io:8080/web/shop")(REF) is None
    over_http = code_links("http://code.acme.io:8080/web/shop", "gitlab")
    assert over_http(REF) == f"http://code.acme.io:8080/web/shop/-/blob/{SHA}/a/b.py#L3-9"
    over_ssh = code_links("ssh://git@code.acme.io:2222/web/shop.git", "gitea")
    assert over_ssh(COMMIT) == f"https://code.acme.io/web/shop/commit/{SHA}"


@each_row("kind", [None, *HOSTS])
@each_row(
    "remote",
    [
        None,
        "/srv/git/shop.git",
        "work:acme/shop.git",
        "git@github.com-work:acme/shop.git",
        "https://github.com/acme/../shop.git",
    ],
)
def test_what_names_no_page_gives_no_link(remote: str | None, kind: CodeHost | None) -> None:
    """A folder, an alias of somebody's ssh config, or what is no repository gives None rather than a guess."""
    link = code_links(remote, kind)
    assert (link(REF), link(COMMIT)) == (None, None)


@each_row(
    "change",
    [
        {"kind": EvidenceKind.LOG_QUERY},
        {"commit": None},
        {"commit": f"{SHA}/../../evil"},
        {"ref": "a/b.py"},
        {"ref": "../b.py:3"},
    ],
)
def test_what_is_no_pinned_citation_has_no_link(change: dict[str, object]) -> None:
    """Only a file with lines and a commit, or a commit, can be linked."""
    assert code_links(GITHUB)(REF.model_copy(update=change)) is None


@each_row(
    "remote, query",
    [
        (GITHUB, "?plain=1#L3-L9"),
        ("git@gitlab.com:acme/shop.git", "?plain=1#L3-9"),
        ("git@codeberg.org:acme/shop.git", "?display=source#L3-L9"),
        ("git@bitbucket.org:acme/shop.git", "#lines-3:9"),
    ],
)
def test_of_a_page_that_is_laid_out_the_lines_are_asked_for(remote: str, query: str) -> None:
    """A Markdown file has no lines to jump to otherwise."""
    link = code_links(remote)(REF.model_copy(update={"ref": "docs/README.md:3-9"}))
    assert str(link).endswith(f"README.md{query}")


@given(path=st.text(min_size=1, max_size=40), host=st.sampled_from(HOSTS), start=st.integers(1, 99_999))
def test_any_path_comes_back_from_its_link(path: str, host: CodeHost, start: int) -> None:
    """Whatever a file is called, the link is one word, stays on the host, and names that file and no other."""
    ref = REF.model_copy(update={"ref": f"{path}:{start}"})
    lines = parse_lines(ref.ref)
    link = code_links("https://code.acme.io/web/shop.git", host)(ref)
    if lines is None or lines.problem():
        assert link is None
        return
    assert link is not None
    assert link.isascii()
    assert not set(link) & set(' <>|"`\n')
    url = urlsplit(link)
    assert url.netloc == "code.acme.io"
    assert unquote(url.path).endswith(f"/{lines.path}")
    assert str(start) in url.fragment


SECRETS = st.text(st.characters(codec="utf-8", exclude_characters="/?#\\[]"), min_size=8, max_size=30).map(
    "hunter2".__add__
)


@given(secret=SECRETS, host=st.sampled_from(HOSTS))
def test_no_secret_of_a_remote_is_ever_in_a_link(secret: str, host: CodeHost) -> None:
    """As user, password or query, encoded or not."""
    for remote in (
        f"https://{secret}@code.acme.io/web/shop.git",
        f"https://me:{secret}@code.acme.io/web/shop.git",
        f"ssh://{secret}@code.acme.io:22/web/shop.git",
        f"{secret}@code.acme.io:web/shop.git",
        f"https://code.acme.io/web/shop.git?t={secret}",
        f"https://code.acme.io/web/shop.git#{secret}",
    ):
        assert "hunter2" not in str(code_links(remote, host)(REF))


def test_a_path_cannot_break_out_of_its_link() -> None:
    """Spaces, brackets and bars in a path are quoted, so that Slack's link syntax stays whole."""
    link = code_links(GITHUB)(REF.model_copy(update={"ref": "a b/<!channel>|x#y?.py:1"}))
    assert link == f"https://github.com/acme/shop/blob/{SHA}/a%20b/%3C%21channel%3E%7Cx%23y%3F.py#L1-L1"
