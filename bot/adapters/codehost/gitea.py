"""Port CodeHostClient over Gitea and Forgejo; a pull request whose title begins with `WIP:` is a draft.

Source: https://docs.gitea.com/api/ (repository, pulls, statuses)
"""

from __future__ import annotations

from pydantic import SecretStr

from bot.adapters.codehost.github import CombinedStatus, HostPull, HostRepository, HostReview, latest_review
from bot.adapters.codehost.host_requests import TIMEOUT_S, HostRequests
from bot.domain.citations.links import CodeRepository
from bot.domain.fixes.fixes import Checks, NewPullRequest, PullRequest

_PAGES = 5
_PAGE = 50


class GiteaClient:
    """Pull requests of one repository."""

    name = "Gitea"

    def __init__(self, repository: CodeRepository, token: SecretStr, *, timeout_s: float = TIMEOUT_S) -> None:
        base = f"{repository.origin}/api/v1/repos/{repository.path}"
        headers = {"Authorization": SecretStr(f"token {token.get_secret_value()}")}
        self._at = HostRequests(self.name, base, headers, timeout_s=timeout_s)

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
        status = self._at.get(CombinedStatus, f"/commits/{one.head.sha}/status")
        reviews = self._at.get(tuple[HostReview, ...], f"/pulls/{number}/reviews", limit=_PAGE)
        return one.as_request().evolve(checks=_checks(status), review=latest_review(reviews))


def _checks(status: CombinedStatus) -> Checks:
    if not status.statuses:
        return "none"
    passed, waits = status.state in ("success", "skipped"), status.state in ("pending", "")
    return "passed" if passed else "pending" if waits else "failed"
