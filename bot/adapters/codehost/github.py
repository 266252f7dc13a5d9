"""Port CodeHostClient for GitHub, GitHub Enterprise Server, Gitea and Forgejo, which have nearly the same API.

A Gitea pull request whose title begins with `WIP:` is a draft.
Source: https://docs.github.com/rest/pulls/pulls, https://docs.gitea.com/api/ (repository, pulls)
"""

from __future__ import annotations

from pydantic import AliasPath, Field, SecretStr

from bot.adapters.codehost.host_requests import HostAnswer, HostRequests, RepositoryClient
from bot.domain.citations.links import CodeRepository
from bot.domain.fixes.fixes import FixStatus, NewPullRequest, PullRequest

_PAGES = 5
_PAGE = 50


class _Pull(HostAnswer):
    """A pull request as GitHub and Gitea show it."""

    number: int
    html_url: str
    title: str = ""
    state: str
    draft: bool = False
    merged_at: str | None = None
    body: str | None = None
    branch: str = Field("", validation_alias=AliasPath("head", "ref"))

    def as_request(self) -> PullRequest:
        status = FixStatus.OPEN if self.state == "open" else FixStatus.CLOSED
        is_draft = self.draft or self.title.startswith("WIP:")
        merged = FixStatus.MERGED if self.merged_at else status
        return PullRequest(number=self.number, url=self.html_url, status=merged, is_draft=is_draft)


class GitHubClient(RepositoryClient):
    """Pull requests of one repository."""

    name = "GitHub"

    def __init__(self, repository: CodeRepository, token: SecretStr) -> None:
        api = "https://api.github.com" if repository.origin == "https://github.com" else f"{repository.origin}/api/v3"
        self._owner = repository.path.partition("/")[0]
        headers: dict[str, SecretStr | str] = {
            "Authorization": SecretStr(f"Bearer {token.get_secret_value()}"),
            "X-GitHub-Api-Version": "2022-11-28",
        }
        super().__init__(HostRequests(self.name, f"{api}/repos/{repository.path}", headers))

    def find(self, branch: str, marker: str) -> PullRequest | None:
        """Return the pull request of a branch whose body holds the marker."""
        found = self._at.get(tuple[_Pull, ...], "/pulls", head=f"{self._owner}:{branch}", state="all", per_page=50)
        return next((one.as_request() for one in found if marker in (one.body or "")), None)

    def open(self, new: NewPullRequest) -> PullRequest:
        """Open a draft."""
        asked = {"title": new.title, "head": new.branch, "base": new.base, "body": new.body, "draft": True}
        return self._at.post(_Pull, "/pulls", asked).as_request()

    def look(self, number: int) -> PullRequest:
        """Return how it stands."""
        return self._at.get(_Pull, f"/pulls/{number}").as_request()


class GiteaClient(RepositoryClient):
    """Pull requests of one repository."""

    name = "Gitea"

    def __init__(self, repository: CodeRepository, token: SecretStr) -> None:
        base = f"{repository.origin}/api/v1/repos/{repository.path}"
        headers = {"Authorization": SecretStr(f"token {token.get_secret_value()}")}
        super().__init__(HostRequests(self.name, base, headers))

    def find(self, branch: str, marker: str) -> PullRequest | None:
        """Return the pull request of a branch whose body holds the marker; only the newest 250 are seen."""
        for page in range(1, _PAGES + 1):
            found = self._at.get(tuple[_Pull, ...], "/pulls", state="all", sort="newest", limit=_PAGE, page=page)
            for one in found:
                if one.branch == branch and marker in (one.body or ""):
                    return one.as_request()
            if len(found) < _PAGE:
                break
        return None

    def open(self, new: NewPullRequest) -> PullRequest:
        """Open a draft."""
        asked = {"title": f"WIP: {new.title}", "head": new.branch, "base": new.base, "body": new.body}
        return self._at.post(_Pull, "/pulls", asked).as_request()

    def look(self, number: int) -> PullRequest:
        """Return how it stands."""
        return self._at.get(_Pull, f"/pulls/{number}").as_request()
