"""Where a report of trouble leads in the code: frames, the newest commits that touched their lines, and owners.

An alert without a stack trace leads to the files of the service that its tool names: a folder or a file of that name,
or a codebase. What cannot be looked up ends no investigation.

Who owns which files, by the rules of GitHub's CODEOWNERS. Pure, and linear in what the file holds.

The last rule that matches a path counts; one without owners leaves the path without any.
Source: https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from bot.agent.codebases import Codebase
from bot.agent.git.git_history import GitHistory
from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.trace_places import (
    MAX_FOLLOWED,
    MAX_SUSPECTS,
    TracePlace,
    suspect_changes,
    suspect_of,
    trace_places,
)
from bot.domain.returns import CodeOwner, SuspectChange
from bot.domain.search.passages import is_quotable
from bot.domain.search.stack_frames import frames_in
from bot.domain.text.linear_patterns import LinearPattern
from bot.domain.text.sanitize import one_line
from bot.errors import TriageError

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


log = logging.getLogger(__name__)

MAX_PATHS: Final = 3
COUNTED_COMMITS: Final = 50
MAX_AUTHORS: Final = 2
MAX_NAME_CHARS: Final = 80

Commits = Sequence[tuple[Codebase, str]]
"""Each codebase with the commit that its index is at."""


class Leads(NamedTuple):
    """What code finds; paths of several codebases begin with the name of theirs."""

    places: Sequence[TracePlace] = ()
    suspects: tuple[SuspectChange, ...] = ()
    owners: tuple[CodeOwner, ...] = ()


def find_leads(said: str, service: str, commits: Commits) -> Leads:
    """Return where the frames of a text lead, in the codebase in which most of them do; else where a service does.

    Handbooks are left out, as their code is examples.
    """
    programs = [one for one in commits if not one[0].is_docs]
    found = [_attempt(_of_trace, said, *one) for one in programs] if frames_in(said) else []
    best = max(found, key=lambda one: len(one.places), default=Leads())
    return best if best.places or not service else _attempt(_of_service, service, programs)


def _attempt(look: Callable[..., Leads], *about: object) -> Leads:
    try:
        return look(*about)
    except TriageError:
        log.warning("a lead was not looked up", extra={"action": "lead_unread"}, exc_info=True)
        return Leads()


def _of_trace(said: str, codebase: Codebase, commit: str) -> Leads:
    places, prefix = trace_places(said, codebase.repo, codebase.index, commit), codebase.prefix
    suspects = suspect_changes(places, codebase.repo, commit)
    paths = list(dict.fromkeys(one.path for one in places))[:MAX_FOLLOWED]
    return Leads(
        [place._replace(path=prefix + place.path) for place in places],
        tuple(one.model_copy(update={"ref": prefix + one.ref}) for one in suspects),
        find_owners(codebase.repo, commit, paths),
    )


def _of_service(service: str, commits: Commits) -> Leads:
    for codebase, commit, paths in _files_of_service(service, commits):
        suspects = _service_changes(codebase, commit, paths)
        return Leads((), suspects, find_owners(codebase.repo, commit, paths))
    return Leads()


def _files_of_service(service: str, commits: Commits) -> Iterator[tuple[Codebase, str, Sequence[str]]]:
    """Yield where a service lives, the surest first: a codebase called like it, or the nearest folders or files.

    A folder ends in a slash; "" is the whole codebase.
    """
    names = list(dict.fromkeys((service, service.replace("-", "_"), service.replace("_", "-"))))
    for codebase, commit in commits:
        if not {codebase.id, codebase.repo.root.name}.isdisjoint(names):
            yield codebase, commit, ("",)
    for codebase, commit in commits:
        found = [path for name in names for path in codebase.index.places_called(name)]
        folders = [path for path in found if path.endswith("/")]
        if nearest := sorted(folders or found, key=lambda path: path.count("/"))[:MAX_PATHS]:
            yield codebase, commit, nearest


def _service_changes(codebase: Codebase, commit: str, paths: Sequence[str]) -> tuple[SuspectChange, ...]:
    """Return the newest commits that touched a service's files, the newest first. Raises ProviderError."""
    found: dict[str, SuspectChange] = {}
    for path in paths:
        for number, one in enumerate(GitHistory(codebase.repo).commits(commit, limit=MAX_SUSPECTS, path=path or None)):
            ref = f"{codebase.prefix}{path}" or codebase.id or codebase.repo.root.name
            found.setdefault(one.sha, suspect_of(one, ref, is_latest=number == 0))
    return tuple(sorted(found.values(), key=lambda one: one.changed_at, reverse=True)[:MAX_SUSPECTS])


def find_owners(repo: GitRepo, commit: str, paths: Sequence[str]) -> tuple[CodeOwner, ...]:
    """Return whom CODEOWNERS names for some files, then who changed them most often lately. Raises ProviderError."""
    rules = next((text for path in CODEOWNERS_PATHS if (text := _text_at(repo, commit, path)) is not None), "")
    named = dict.fromkeys(owner for path in paths for owner in owners_of(rules, path))
    history = GitHistory(repo)
    authors = Counter(
        (one.author, one.email)
        for path in paths
        for one in history.commits(commit, limit=COUNTED_COMMITS, path=path or None)
    )
    often = [CodeOwner(name=name, email=email) for (name, email), _ in authors.most_common(MAX_AUTHORS)]
    by_rule = [CodeOwner(name=one, email="" if one.startswith("@") else one, by_rule=True) for one in named]
    return tuple(_shown([*by_rule, *often]))


def _shown(owners: Iterable[CodeOwner]) -> Iterator[CodeOwner]:
    """Yield those whose names may be shown, on one line."""
    for one in owners:
        name = one_line(one.name, MAX_NAME_CHARS)
        if name and is_quotable(name):
            yield one.model_copy(update={"name": name, "email": one.email[:MAX_NAME_CHARS]})


def _text_at(repo: GitRepo, commit: str, path: str) -> str | None:
    blob = repo.blob_at(commit, path)
    return None if blob is None or len(blob) > MAX_BYTES else blob.decode("utf-8", "replace")
