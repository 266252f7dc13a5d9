"""The part of triage.yml called `codebases`: where each repository is, and what it holds.

`codebase: PATH` is the short form of one; it has no id. Teams and channels pick from them by id. Values only;
bot/config/settings.py reads them.

The parts of triage.yml about casework: briefs, how long cards wait, notes, long investigations, pages.

Also automatic replies and draft pull requests. Values only; bot/config/settings.py reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, model_validator

from bot.config.field_types import (
    ClockTime,
    EscalationId,
    Folder,
    Interval,
    PerhapsFolder,
    PerhapsInterval,
    SettingsBlock,
    described_as,
    form,
)
from bot.config.written_keys import KeyPath, Problem, blocks_in
from bot.domain.citations.links import CodeHost
from bot.domain.paging import AGAIN_AFTER
from bot.domain.secrets import find_secrets

REMIND_AFTER = timedelta(hours=4)
EXPIRE_AFTER = timedelta(days=3)
KEEP_RUNS_FOR = timedelta(days=90)

_Argument = Annotated[str, Field(min_length=1)]


class BriefSettings(SettingsBlock):
    """What the ops channel is told at fixed times; nothing until a time is given."""

    morning: ClockTime | None = None
    """When the brief is said; null: never."""
    evening: ClockTime | None = None
    """When the report of the day is said; null: never. Both are on the clock of `working_hours.timezone`."""


class PageSettings(SettingsBlock):
    """What follows a page that nobody acknowledges."""

    again_after: PerhapsInterval = AGAIN_AFTER
    """How often such a page rings again; null: never."""
    then: EscalationId | None = None
    """Who is told once after twice as long; a channel must be private."""


class EscalationSettings(SettingsBlock):
    """Long investigations outside the bot's own process; they need a model."""

    enabled: bool = True
    """false: no long run is started, by nobody."""
    expected_runtime_min_threshold: Annotated[float, Field(ge=1, le=240)] = 10
    """A question expected to take so many minutes is escalated at once."""
    command: Annotated[tuple[_Argument, ...], Field(min_length=1)] | None = None
    """Another harness, with {rubric}, {question_file}, {codebase}, {out}; null: triage itself."""
    time_limit_min: Annotated[float, Field(gt=0, le=240)] = 30
    """Minutes after which a long run is ended."""
    transcript_dir: PerhapsFolder | None = None
    """Where long runs write transcript.log, a folder a thread, never removed; null: in the data directory."""


def _switch_word(value: object) -> object:
    """Return the word that YAML takes for a truth value: `on` and `off` without quotes."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


Autonomy = Annotated[Literal["off", "shadow", "on"], BeforeValidator(_switch_word)]
"""Whether replies may be sent without a human."""


class FixSettings(SettingsBlock):
    """Draft pull requests of proposed patches; they need a token of the code host in the environment."""

    check: Annotated[tuple[_Argument, ...], Field(min_length=1)] | None = None
    """What runs the tests in the patched files, such as `[make, test]`; null: nothing."""

    def over(self, others: FixSettings) -> FixSettings:
        """Return these where they were given, else the others."""
        return others.model_copy(update={key: getattr(self, key) for key in self.model_fields_set})


SHORT_FORM: Final = ""
"""The id of the codebase that `codebase: PATH` names."""

REFRESH: Final = timedelta(minutes=5)
_URL: Final = re.compile(r"(?:https?|ssh|git|file)://[^\s\x00-\x1f]{1,2000}")
_SCP: Final = re.compile(r"[A-Za-z0-9_][\w.-]{0,99}@[A-Za-z0-9_][\w.-]{0,250}:(?!/?/)[^\s:\x00-\x1f]{1,2000}")
_LONGEST_USER: Final = 19
"""Tokens of code hosts are 20 characters and more."""

CodebaseId = Annotated[str, *form(r"[a-z][a-z0-9_-]{0,39}", "id of a codebase: small letters, digits, - and _")]
Branch = Annotated[
    str, *form(r"(?![-/.])(?!.*(?:\.\.|//|@\{|\.lock$|[/.]$))[\w./@+#-]{1,200}", "name of a branch such as main")
]
CodebaseKind = Literal["code", "docs"]

Picked = Annotated[tuple[CodebaseId, ...], Field(min_length=1)] | None
"""Ids of codebases, for a team or a channel; None: all there are."""


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


class CodebaseSettings(SettingsBlock):
    """One repository: a checkout of yours (`path`), or one that triage clones (`url`)."""

    path: Folder | None = None
    """A git checkout on this machine; its HEAD is read."""
    url: Annotated[str, BeforeValidator(_remote), described_as("address git can clone, without a password")] | None = (
        None
    )
    """What triage clones and keeps fresh, with git's own credentials."""
    branch: Branch | None = None
    """The branch that pull requests lead to and, of a `url`, that is read; absent: the remote's default."""
    refresh: Interval = REFRESH
    """How old a clone may become, of a `url` only."""
    kind: CodebaseKind = "code"
    """`docs`: a handbook, whose pages are cited."""
    code_host: CodeHost | None = None
    """As `code_host` at the top, for this one."""
    fixes: FixSettings = FixSettings()
    """As `fixes` at the top, for this one."""

    @model_validator(mode="after")
    def _one_place(self) -> CodebaseSettings:
        if (self.path is None) == (self.url is None):
            raise ValueError(
                "name either a path, such as {path: ~/src/shop}, or a url, such as {url: git@host:a/b.git}"
            )
        if self.path is not None and "refresh" in self.model_fields_set:
            raise ValueError("refresh belongs to a url; of a path, the checkout's own HEAD is read")
        return self


def across_codebases(config: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong between the codebases of a raw config and who picks from them."""
    given = config.get("codebases")
    if "codebase" in config and config["codebase"] is None:
        yield Problem(("codebase",), "must be a path, such as ~/src/shop")
    elif given and "codebase" in config:
        says = "`codebases` is there too; move this one into it, such as codebases: {shop: {path: ~/src/shop}}"
        yield Problem(("codebase",), says)
    elif not given and "codebase" not in config:
        yield Problem(("codebase",), "is required; see triage.example.yml")
    known = [str(name) for name in given] if isinstance(given, Mapping) else []
    for name, team in blocks_in(config.get("teams")).items():
        yield from _unknown(("teams", name, "codebases"), team.get("codebases"), known)
        own = team.get("codebases") if isinstance(team.get("codebases"), list) else None
        yield from _of_chats(("teams", name, "channels"), team.get("channels"), own or known)
    yield from _of_chats(("watched_chats",), config.get("watched_chats"), known)


def _of_chats(path: KeyPath, chats: object, known: list[Any]) -> Iterator[Problem]:
    for number, chat in enumerate(chats if isinstance(chats, list | tuple) else ()):
        if isinstance(chat, Mapping):
            yield from _unknown((*path, number, "codebases"), chat.get("codebases"), known)


def _unknown(path: KeyPath, picked: object, known: list[Any]) -> Iterator[Problem]:
    for name in picked if isinstance(picked, list | tuple) else ():
        if isinstance(name, str) and name not in known:
            there = f"one of {', '.join(map(str, known))}" if known else "name it under `codebases` at the top"
            yield Problem(path, f"there is no codebase {name[:60]!r}; {there}")
