"""What a patch may change."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.patches import (
    MAX_DIFF_CHARS,
    FileChange,
    FixCode,
    FixRefused,
    check_changes,
    check_diff,
    is_protected,
)
from tests.tables import each_row

PATHS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=60)


def changed(path: str, before: str = "100644", mode: str = "100644", lines: int | None = 1) -> FileChange:
    return FileChange(path, before, mode, lines, lines)


def code_of(change: FileChange, added: str = "x = 1") -> FixCode | None:
    return refused(lambda: check_changes([change], added, ()))


def refused(check: Callable[[], None]) -> FixCode | None:
    try:
        check()
    except FixRefused as error:
        return error.refusal.code
    return None


@each_row(
    "path, word",
    [
        (".github/workflows/ci.yml", "checks"),
        (".GitHub/Workflows/ci.yml", "checks"),
        (".gitlab-ci.yml", "checks"),
        ("Jenkinsfile", "checks"),
        ("docs/CODEOWNERS", "checks"),
        (".husky/pre-commit", "checks"),
        ("uv.lock", "lock file"),
        (".gitattributes", "git"),
        ("sub/.gitmodules", "git"),
    ],
)
def test_protected_files_are_not_changed(path: str, word: str) -> None:
    """And the refusal says what they are."""
    assert code_of(changed(path)) is FixCode.PROTECTED
    assert word in str(is_protected(path))


@each_row(
    "path",
    [
        ".g\u0456thub/workflows/ci.yml",  # Cyrillic i
        ".gi\u0307thub/x",  # i and a dot of its own
        ".\uff47\uff49\uff54/config",  # wide letters
        "app/aux.py",
        "app/x ",
        "-rf",
        "C:/x",
        "..\\x",
        f"app/{'x' * 256}",
    ],
)
def test_a_new_file_has_a_name_that_reads_alike_for_people_hosts_and_systems(path: str) -> None:
    """Plain letters, so nothing only looks like `.github`; a file that is there already keeps its name."""
    assert code_of(changed(path, before="000000")) is FixCode.OUTSIDE
    assert code_of(changed(path)) is None


@each_row("path", ["app/x.py", "web/[id].tsx", "web/(group)/@slot/_app.js", "a b/c+d.md", "config.py", "x.con"])
def test_ordinary_new_names_pass(path: str) -> None:
    """Blanks, brackets and dots included."""
    assert code_of(changed(path, before="000000")) is None


def test_other_files_are_refused_for_what_they_are() -> None:
    """A link, a submodule, a binary file, a file of credentials, hidden characters, a secret."""
    assert code_of(changed("x", mode="120000")) is FixCode.NO_FILE
    assert code_of(changed("x", before="160000")) is FixCode.NO_FILE
    assert code_of(changed("x", lines=None)) is FixCode.BINARY
    assert code_of(changed("deploy/.env")) is FixCode.SECRET
    assert code_of(changed("x"), added="x = 1\u202e") is FixCode.HIDDEN
    assert code_of(changed("x"), added='password = "hG7$kq2Lz9pW"') is FixCode.SECRET


def test_size_is_limited() -> None:
    """By files, by lines, by characters; and something must change."""
    assert code_of(changed("x", lines=251)) is FixCode.TOO_LARGE
    many = [changed(f"f{n}.py") for n in range(21)]
    assert refused(lambda: check_changes(many, "", ())) is FixCode.TOO_LARGE
    assert refused(lambda: check_changes([], "", ())) is FixCode.NO_CHANGE
    for diff, code in {
        " \n": FixCode.NO_CHANGE,
        "+" * (MAX_DIFF_CHARS + 1): FixCode.TOO_LARGE,
        "diff --git a/x b/x\nGIT binary patch\nliteral 9999999999\n": FixCode.BINARY,
    }.items():
        assert refused(partial(check_diff, diff)) is code


@given(path=PATHS, mode=st.sampled_from(["100644", "100755", "120000", "160000", "040000"]))
def test_what_passes_is_an_ordinary_file_in_the_tree(path: str, mode: str) -> None:
    """Whatever the name."""
    if code_of(changed(path, mode=mode)) is None:
        parts = path.split("/")
        assert mode.startswith("100")
        assert path.isprintable()
        assert not any(part.casefold().startswith(".git") for part in parts)


ORDINARY = st.from_regex(r"(app|src|tests)/[a-z]{1,8}\.(py|go|js)", fullmatch=True)


@given(
    paths=st.lists(ORDINARY, min_size=1, max_size=20, unique=True),
    bad=st.sampled_from([".github/x", ".gitmodules", "uv.lock"]),
)
def test_one_bad_file_spoils_any_patch(paths: list[str], bad: str) -> None:
    """Wherever it stands among good ones; without it they pass."""
    good = [changed(path) for path in paths]
    check_changes(good, "x", ())
    for at in (0, len(good) // 2, len(good)):
        spoiled = [*good[:at], changed(bad), *good[at:]]
        assert refused(partial(check_changes, spoiled, "x", ())) is FixCode.PROTECTED
