"""The part of triage.yml called `codebases`: where each repository is, and what it holds.

`codebase: PATH` is the short form of one. Values only; bot/config/settings.py reads them.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from bot.config.field_types import Folder, Interval, SettingsBlock, described_as
from bot.domain.secrets import find_secrets

REFRESH: Final = timedelta(minutes=5)
_ID: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_URL: Final = re.compile(r"(?:https?|ssh|git|file)://[^\s\x00-\x1f]{1,2000}")
_SCP: Final = re.compile(r"[A-Za-z0-9_][\w.-]{0,99}@[A-Za-z0-9_][\w.-]{0,250}:(?!/?/)[^\s:\x00-\x1f]{1,2000}")
_LONGEST_USER: Final = 19
"""Tokens of code hosts are 20 characters and more."""
_BRANCH: Final = re.compile(r"(?![-/.])(?!.*(?:\.\.|//|@\{|\.lock$|[/.]$))[\w./@+#-]{1,200}")


def _codebase_id(value: str) -> str:
    if not _ID.fullmatch(value):
        raise ValueError(f"{value[:60]!r} is no id of a codebase; small letters, digits, - and _, such as shop")
    return value


def _remote(value: object) -> object:
    """Refuse what git would not clone, and what holds a credential; the message never repeats the value."""
    if not isinstance(value, str):
        return value
    if not (_URL.fullmatch(value) or _SCP.fullmatch(value)):
        raise ValueError("is no address git can clone; such as https://git.example.com/a/b.git or git@host:a/b.git")
    if _holds_secret(value):
        raise ValueError(
            "holds a password or token; take it out and let git find it: a credential helper, or an SSH agent"
        )
    return value


def _holds_secret(url: str) -> bool:
    if find_secrets(url):
        return True
    try:
        parts = urlsplit(url) if "://" in url else None
    except ValueError:
        return True
    if parts is None:
        return False
    is_web = parts.scheme in ("http", "https")
    return bool(
        parts.password or (is_web and (parts.query or parts.fragment or len(parts.username or "") > _LONGEST_USER))
    )


def _branch(value: str) -> str:
    if not _BRANCH.fullmatch(value):
        raise ValueError(f"{value[:60]!r} is no name of a branch; such as main")
    return value


CodebaseId = Annotated[str, AfterValidator(_codebase_id)]
CodebaseKind = Literal["code", "docs"]


class CodebaseSettings(SettingsBlock):
    """One repository: a checkout of yours (`path`), or one that triage clones (`url`)."""

    path: Folder | None = None
    """A git checkout on this machine; its HEAD is read."""
    url: Annotated[str, BeforeValidator(_remote), described_as("address git can clone, without a password")] | None = (
        None
    )
    """What triage clones and keeps fresh, with git's own credentials; a password or token in it is refused."""
    branch: Annotated[str, Field(min_length=1), AfterValidator(_branch)] | None = None
    """The branch that is read, of a `url` only; absent: the remote's default."""
    refresh: Interval = REFRESH
    """How old a clone may become before it is fetched again, of a `url` only."""
    kind: CodebaseKind = "code"
    """`docs`: a handbook, whose files all count as prose."""

    @model_validator(mode="after")
    def _one_place(self) -> CodebaseSettings:
        if (self.path is None) == (self.url is None):
            raise ValueError(
                "name either a path, such as {path: ~/src/shop}, or a url, such as {url: git@host:a/b.git}"
            )
        only = [key for key in ("branch", "refresh") if key in self.model_fields_set]
        if self.path is not None and only:
            raise ValueError(f"{only[0]} belongs to a url; of a path, the checkout's own HEAD is read")
        return self
