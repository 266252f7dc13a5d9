"""Port CodeHostClient for GitLab, gitlab.com or self-hosted. A merge request is a draft if its title says so.

Source: https://docs.gitlab.com/api/merge_requests/, /api/projects/
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from pydantic import SecretStr

from bot.adapters.codehost.host_requests import HostAnswer, HostRequests, RepositoryClient
from bot.domain.citations.links import CodeRepository
from bot.domain.fixes.fixes import FixStatus, NewPullRequest, PullRequest

_STATES: Final = {"merged": FixStatus.MERGED, "closed": FixStatus.CLOSED}


class _MergeRequest(HostAnswer):
    iid: int
    web_url: str
    state: str
    draft: bool = False
    description: str | None = None

    def as_request(self) -> PullRequest:
        status = _STATES.get(self.state, FixStatus.OPEN)
        return PullRequest(number=self.iid, url=self.web_url, status=status, is_draft=self.draft)


class GitLabClient(RepositoryClient):
    """Merge requests of one project."""

    name = "GitLab"

    def __init__(self, repository: CodeRepository, token: SecretStr) -> None:
        base = f"{repository.origin}/api/v4/projects/{quote(repository.path, safe='')}"
        super().__init__(HostRequests(self.name, base, {"PRIVATE-TOKEN": token}))

    def find(self, branch: str, marker: str) -> PullRequest | None:
        """Return the merge request of a branch whose description holds the marker."""
        found = self._at.get(
            tuple[_MergeRequest, ...], "/merge_requests", source_branch=branch, state="all", per_page=50
        )
        return next((one.as_request() for one in found if marker in (one.description or "")), None)

    def open(self, new: NewPullRequest) -> PullRequest:
        """Open a draft; its branch is removed when it is merged."""
        asked = {
            "title": f"Draft: {new.title}",
            "source_branch": new.branch,
            "target_branch": new.base,
            "description": new.body,
            "remove_source_branch": True,
        }
        return self._at.post(_MergeRequest, "/merge_requests", asked).as_request()

    def look(self, number: int) -> PullRequest:
        """Return how it stands."""
        return self._at.get(_MergeRequest, f"/merge_requests/{number}").as_request()
