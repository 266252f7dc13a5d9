"""The block `codebases` of triage.yml: one repository each, by path or by address."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from bot.casework.thread_service import ChannelCodebases
from bot.config.codebase_settings import SHORT_FORM, CodebaseId, CodebaseSettings
from bot.config.settings import Settings, load_settings
from bot.errors import ConfigError
from tests.builders import a_thread
from tests.tables import each_row

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

SEVERAL = "codebases: {shop: {path: shop}, infra: {url: 'git@git.example.com:acme/infra.git'}}"


def refused(**values: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        CodebaseSettings.model_validate(values)
    return "; ".join(error["msg"] for error in caught.value.errors())


def test_a_path_is_read_at_its_head(tmp_path: Path) -> None:
    """A path needs nothing else."""
    found = CodebaseSettings.model_validate({"path": str(tmp_path)})

    assert (found.path, found.url, found.kind) == (tmp_path.resolve(), None, "code")


@each_row(
    "url",
    [
        "https://git.example.com/acme/infra.git",
        "https://ann@git.example.com/acme/infra.git",
        "git@git.example.com:acme/infra.git",
        "ssh://git@git.example.com:7999/acme/infra.git",
        "file:///srv/git/infra.git",
    ],
)
def test_an_address_that_git_clones_is_taken(url: str) -> None:
    """Each of git's spellings of a remote is one."""
    found = CodebaseSettings.model_validate({"url": url, "branch": "release/1.2", "refresh": "90s"})

    assert (found.url, found.branch, found.refresh) == (url, "release/1.2", timedelta(seconds=90))


@each_row(
    "url",
    [
        "https://ann:hunter2hunter2@git.example.com/acme/infra.git",
        f"https://{TOKEN}@git.example.com/acme/infra.git",
        "https://abcdefghijklmnopqrst@git.example.com/acme/infra.git",
        "https://git.example.com/acme/infra.git?private_token=abc",
        "ssh://git:hunter2@git.example.com/acme/infra.git",
    ],
)
def test_a_secret_in_an_address_is_refused_and_not_repeated(url: str) -> None:
    """Git has places of its own for credentials."""
    said = refused(url=url)

    assert "holds a password or token" in said
    assert not any(part in said for part in ("hunter2", TOKEN, "abcdefghijklmnopqrst", "private_token"))


@each_row("url", ["ext::sh -c true", "--upload-pack=x", "/srv/git/x", "host:path", "-x@host:a/b", ""])
def test_what_git_would_run_or_not_clone_is_refused(url: str) -> None:
    """No option, no helper program, no bare path."""
    assert "is no address git can clone" in refused(url=url)


def test_a_codebase_has_one_place(tmp_path: Path) -> None:
    """Neither or both is refused, and so is what belongs to a clone beside a path."""
    assert "either a path" in refused()
    assert "either a path" in refused(path=str(tmp_path), url="git@host:a/b.git")
    assert "refresh belongs to a url" in refused(path=str(tmp_path), refresh="5m")


@each_row("branch", ["-f", "a..b", "a b", "main.lock", "/main", "a@{1}"])
def test_a_branch_is_a_name(branch: str) -> None:
    """Nothing that git reads as an option, a range or a step of a log."""
    assert "is no name of a branch" in refused(url="git@host:a/b.git", branch=branch)


@each_row("name", ["Shop", "a:b", "../x", "", "9", "a" * 41])
def test_an_id_is_a_small_word(name: str) -> None:
    """It stands before a colon in citations, and names a file."""
    with pytest.raises(ValidationError, match="is no id of a codebase"):
        TypeAdapter(CodebaseId).validate_python(name)


class TestFile:
    """How codebases are written in triage.yml."""

    def load(self, folder: Path, text: str) -> Settings:
        """Return the settings of a file beside the checkouts `shop` and `infra`."""
        for name in ("shop", "infra"):
            (folder / name).mkdir(exist_ok=True)
        (folder / "triage.yml").write_text(f"ops_channel: C0OPS\n{text}")
        return load_settings(folder / "triage.yml")

    def refused(self, folder: Path, text: str) -> tuple[str, ...]:
        """Return every problem of a file."""
        with pytest.raises(ConfigError) as caught:
            self.load(folder, text)
        return caught.value.problems

    def test_the_short_form_and_the_long_one_are_read_alike(self, tmp_path: Path) -> None:
        """By id; the one of the short form has none."""
        assert self.load(tmp_path, "codebase: shop").all_codebases[SHORT_FORM].path == tmp_path / "shop"
        several = self.load(tmp_path, SEVERAL)
        assert {name: one.path or one.url for name, one in several.all_codebases.items()} == {
            "shop": tmp_path / "shop",
            "infra": "git@git.example.com:acme/infra.git",
        }

    def test_a_channel_picks_from_them(self, tmp_path: Path) -> None:
        """One that names none is about all of them, and so is a channel that is not watched."""
        chats = "watched_chats: [{chat_id: C01, codebases: [infra]}, {chat_id: C02}]"
        settings = self.load(tmp_path, f"{SEVERAL}\n{chats}")
        picked = ChannelCodebases(settings.watched_chats).picked
        asked = [a_thread(chat_id=chat) for chat in ("C01", "C02", "C09")]
        assert [*map(picked, asked), picked(asked[0].evolve(codebases=("shop",)))] == [("infra",), (), (), ("shop",)]

    def test_a_team_sees_those_it_names(self, tmp_path: Path) -> None:
        """And no other; one that names none sees them all."""
        teams = "teams: {pay: {ops_channel: C0PAY, codebases: [shop]}, all: {ops_channel: C0ALL}}"
        by_team = self.load(tmp_path, f"{SEVERAL}\n{teams}").by_team()
        assert {name: list(one.all_codebases) for name, one in by_team.items()} == {
            "pay": ["shop"],
            "all": ["shop", "infra"],
        }

    def test_all_that_is_wrong_is_said_at_once(self, tmp_path: Path) -> None:
        """Each under its key, with what would be right."""
        problems = self.refused(
            tmp_path,
            "codebase: shop\n"
            "codebases: {shop: {path: gone}, Shop: {path: shop}, x: {}, y: {url: 'https://a:hunter22@b.io/c'}}\n"
            "watched_chats: [{chat_id: C01, codebases: [payroll]}]\n"
            "teams: {pay: {ops_channel: C0PAY, codebases: [shop], channels: [{chat_id: C02, codebases: [x]}]}}\n",
        )
        said = "\n".join(problems)
        for words in (
            "codebase: `codebases` is there too",
            "codebases.shop.path: ",
            "is not a folder",
            "is no id of a codebase",
            "codebases.x: name either a path",
            "codebases.y.url: holds a password or token",
            "watched_chats.0.codebases: there is no codebase 'payroll'; one of shop, Shop, x, y",
            "teams.pay.channels.0.codebases: there is no codebase 'x'; one of shop",
        ):
            assert words in said
        assert "hunter22" not in said

    def test_one_of_both_forms_is_needed(self, tmp_path: Path) -> None:
        """Without a codebase there is nothing to quote."""
        assert self.refused(tmp_path, "") == ("codebase: is required; see triage.example.yml",)
        assert "codebase: is required; see triage.example.yml" in self.refused(tmp_path, "codebases: {}")

    def test_an_id_without_codebases_is_refused(self, tmp_path: Path) -> None:
        """The short form has no id to name."""
        (problem,) = self.refused(tmp_path, "codebase: shop\nwatched_chats: [{chat_id: C01, codebases: [shop]}]")
        assert problem.endswith("there is no codebase 'shop'; name it under `codebases` at the top (line 3)")
