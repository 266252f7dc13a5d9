"""Links from citations to the code host."""

from __future__ import annotations

import pytest

from bot.domain.links import code_links
from bot.domain.returns import EvidenceKind, EvidenceRef

SHA = "f00" * 13 + "f"
REF = EvidenceRef(kind=EvidenceKind.FILE, ref="a/b.py:3-9", commit=SHA)


@pytest.mark.parametrize(
    "remote",
    [
        "git@github.com:acme/shop.git",
        "https://github.com/acme/shop.git",
        "https://github.com/acme/shop",
        "https://github.com/acme/shop/",
        "ssh://git@github.com/acme/shop.git",
        "ssh://git@github.com:22/acme/shop.git",
        "https://someone:ghp_secret@github.com/acme/shop.git",
    ],
)
def test_every_spelling_of_a_remote_gives_one_link(remote: str) -> None:
    """HTTPS, SSH and scp spellings lead to the same page, and a token in the remote never gets into a link."""
    assert code_links(remote)(REF) == f"https://github.com/acme/shop/blob/{SHA}/a/b.py#L3-L9"


@pytest.mark.parametrize(
    ("remote", "url"),
    [
        (
            "git@gitlab.example.org:group/sub/shop.git",
            f"https://gitlab.example.org/group/sub/shop/-/blob/{SHA}/a/b.py#L3-9",
        ),
        ("git@bitbucket.org:acme/shop.git", f"https://bitbucket.org/acme/shop/src/{SHA}/a/b.py#lines-3:9"),
    ],
)
def test_each_host_has_its_own_form(remote: str, url: str) -> None:
    """GitLab, self-hosted too, and Bitbucket mark lines in their own way."""
    assert code_links(remote)(REF) == url


@pytest.mark.parametrize("remote", [None, "", "/srv/git/shop.git", "file:///srv/shop", "https://git.example.org/shop"])
def test_without_a_known_host_there_is_no_link(remote: str | None) -> None:
    """A local or unknown remote gives None rather than a guess."""
    assert code_links(remote)(REF) is None


@pytest.mark.parametrize(
    "change",
    [{"kind": EvidenceKind.GIT_COMMIT}, {"commit": None}, {"ref": "a/b.py"}, {"ref": "a/b.py:x"}, {"ref": ""}],
)
def test_what_is_no_pinned_file_citation_has_no_link(change: dict[str, object]) -> None:
    """Only a file with lines and a commit can be linked."""
    assert code_links("git@github.com:acme/shop.git")(REF.model_copy(update=change)) is None


def test_one_line_is_linked_as_a_range_of_itself() -> None:
    """`path:line` marks that line."""
    link = code_links("git@github.com:acme/shop.git")(REF.model_copy(update={"ref": "b.py:7"}))
    assert link == f"https://github.com/acme/shop/blob/{SHA}/b.py#L7-L7"


def test_a_path_cannot_break_out_of_its_link() -> None:
    """Spaces, brackets and bars in a path are quoted, so that Slack's link syntax stays whole."""
    link = code_links("git@github.com:acme/shop.git")(REF.model_copy(update={"ref": "a b/<!channel>|x#y?.py:1"}))
    assert link == f"https://github.com/acme/shop/blob/{SHA}/a%20b/%3C%21channel%3E%7Cx%23y%3F.py#L1-L1"
