"""Port CodeHostClient for GitHub, GitHub Enterprise Server, Gitea and Forgejo, which have nearly the same API.

A Gitea pull request whose title begins with `WIP:` is a draft.
Source: https://docs.github.com/rest/pulls/pulls, /rest/checks/runs, /rest/commits/statuses, /rest/pulls/reviews;
https://docs.gitea.com/api/ (repository, pulls, statuses)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import SecretStr

from bot.adapters.codehost.host_requests import HostAnswer, HostRequests
from bot.domain.citations.links import CodeRepository
from bot.domain.fixes.fixes import Checks, FixStatus, NewPullRequest, PullRequest, Review

_PASSED: Final = frozenset({"success", "neutral", "skipped"})
_REVIEWS: Final[dict[str, Review]] = {
    "APPROVED": "approved",
    "CHANGES_REQUESTED": "changes_requested",
    "REQUEST_CHANGES": "changes_requested",
    "DISMISSED": "none",
}

_PAGES = 5
_PAGE = 50


class HostRepository(HostAnswer):
    """A repository."""

    default_branch: str


class Head(HostAnswer):
    """What a pull request would merge."""

    sha: str
    ref: str = ""


class Reviewer(HostAnswer):
    """Who said it."""

    login: str = ""


class HostReview(HostAnswer):
    """One review; a comment is one as well."""

    state: str
    user: Reviewer | None = None


class HostPull(HostAnswer):
    """A pull request as GitHub and Gitea show it."""

    number: int
    html_url: str
    title: str = ""
    state: str
    draft: bool = False
    merged_at: str | None = None
    body: str | None = None
    head: Head

    def as_request(self) -> PullRequest:
        """Return it as the bot knows it."""
        status = FixStatus.OPEN if self.state == "open" else FixStatus.CLOSED
        is_draft = self.draft or self.title.startswith("WIP:")
        merged = FixStatus.MERGED if self.merged_at else status
        return PullRequest(number=self.number, url=self.html_url, status=merged, is_draft=is_draft)


class HostStatus(HostAnswer):
    """What one check says of a commit."""

    state: str = ""


class CombinedStatus(HostAnswer):
    """What all of them say, and together."""

    state: str = ""
    statuses: tuple[HostStatus, ...] | None = None


class _Run(HostAnswer):
    status: str
    conclusion: str | None = None


class _Runs(HostAnswer):
    check_runs: tuple[_Run, ...]


class GitHubClient:
    """Pull requests of one repository."""

    name = "GitHub"

    def __init__(self, repository: CodeRepository, token: SecretStr) -> None:
        api = "https://api.github.com" if repository.origin == "https://github.com" else f"{repository.origin}/api/v3"
        self._owner = repository.path.partition("/")[0]
        headers: dict[str, SecretStr | str] = {
            "Authorization": SecretStr(f"Bearer {token.get_secret_value()}"),
            "X-GitHub-Api-Version": "2022-11-28",
        }
        self._at = HostRequests(self.name, f"{api}/repos/{repository.path}", headers)

    def default_branch(self) -> str:
        """Return the repository's default branch."""
        return self._at.get(HostRepository, "").default_branch

    def find(self, branch: str, marker: str) -> PullRequest | None:
        """Return the pull request of a branch whose body holds the marker."""
        found = self._at.get(tuple[HostPull, ...], "/pulls", head=f"{self._owner}:{branch}", state="all", per_page=50)
        return next((one.as_request() for one in found if marker in (one.body or "")), None)

    def open(self, new: NewPullRequest) -> PullRequest:
        """Open a draft."""
        asked = {"title": new.title, "head": new.branch, "base": new.base, "body": new.body, "draft": True}
        return self._at.post(HostPull, "/pulls", asked).as_request()

    def look(self, number: int) -> PullRequest:
        """Return how it stands, with its check runs, its commit statuses and the last review of each reviewer."""
        one = self._at.get(HostPull, f"/pulls/{number}")
        commit = f"/commits/{one.head.sha}"
        runs = self._at.get_allowed(_Runs, f"{commit}/check-runs", per_page=100)
        status = self._at.get_allowed(CombinedStatus, f"{commit}/status", per_page=100)
        reviews = self._at.get_allowed(tuple[HostReview, ...], f"/pulls/{number}/reviews", per_page=100)
        said = [_of_run(run) for run in runs.check_runs] if runs else []
        said += [_of_status(each.state) for each in (status.statuses if status else None) or ()]
        is_hidden = runs is None or status is None
        return one.as_request().evolve(
            checks=together(said), hides_checks=is_hidden, review=_latest_review(reviews or ())
        )


def together(said: Iterable[Checks]) -> Checks:
    """Return what several checks come to.

    >>> together(["passed", "pending"]), together(["passed", "failed", "pending"]), together([])
    ('pending', 'failed', 'none')
    """
    known = frozenset(said)
    worst: Sequence[Checks] = ("failed", "pending", "passed")
    return next((one for one in worst if one in known), "none")


def _latest_review(reviews: Iterable[HostReview]) -> Review:
    """Return what reviewers say together, each by their last word; a comment is none."""
    last = {one.user.login: _REVIEWS[one.state] for one in reviews if one.user and one.state in _REVIEWS}
    if "changes_requested" in last.values():
        return "changes_requested"
    return "approved" if "approved" in last.values() else "none"


def _of_run(run: _Run) -> Checks:
    if run.status != "completed":
        return "pending"
    return "passed" if run.conclusion in _PASSED else "failed"


def _of_status(state: str) -> Checks:
    return "passed" if state == "success" else "pending" if state == "pending" else "failed"


class GiteaClient:
    """Pull requests of one repository."""

    name = "Gitea"

    def __init__(self, repository: CodeRepository, token: SecretStr) -> None:
        base = f"{repository.origin}/api/v1/repos/{repository.path}"
        headers = {"Authorization": SecretStr(f"token {token.get_secret_value()}")}
        self._at = HostRequests(self.name, base, headers)

    def default_branch(self) -> str:
        """Return the repository's default branch."""
        return self._at.get(HostRepository, "").default_branch

    def find(self, branch: str, marker: str) -> PullRequest | None:
        """Return the pull request of a branch whose body holds the marker; only the newest 250 are seen."""
        for page in range(1, _PAGES + 1):
            found = self._at.get(tuple[HostPull, ...], "/pulls", state="all", sort="newest", limit=_PAGE, page=page)
            for one in found:
                if one.head.ref == branch and marker in (one.body or ""):
                    return one.as_request()
            if len(found) < _PAGE:
                break
        return None

    def open(self, new: NewPullRequest) -> PullRequest:
        """Open a draft."""
        asked = {"title": f"WIP: {new.title}", "head": new.branch, "base": new.base, "body": new.body}
        return self._at.post(HostPull, "/pulls", asked).as_request()

    def look(self, number: int) -> PullRequest:
        """Return how it stands, with its commit's combined status and the last review of each reviewer."""
        one = self._at.get(HostPull, f"/pulls/{number}")
        status = self._at.get_allowed(CombinedStatus, f"/commits/{one.head.sha}/status")
        reviews = self._at.get_allowed(tuple[HostReview, ...], f"/pulls/{number}/reviews", limit=_PAGE)
        checks: Checks = _checks(status) if status else "none"
        return one.as_request().evolve(checks=checks, hides_checks=status is None, review=_latest_review(reviews or ()))


def _checks(status: CombinedStatus) -> Checks:
    if not status.statuses:
        return "none"
    passed, waits = status.state in ("success", "skipped"), status.state in ("pending", "")
    return "passed" if passed else "pending" if waits else "failed"
