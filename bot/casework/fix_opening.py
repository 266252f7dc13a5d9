"""Opens a draft pull request for a patch that an approver wants opened: exactly once, whatever crashes on the way.

Every commit that may stand on the branch is stored before it is pushed. So each start and each retry first looks for
the pull request by branch and marker, then for the branch. A host refuses a second request for the same branch. The
request's text comes from a model or a chat: in the body it stands in code blocks, where hosts obey no mention, no
`closes #1` and no `/merge`; in single lines the signs that hosts obey are removed.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection
from typing import Final

from bot.agent.git.patch_repo import PatchRepo, Remote
from bot.casework.approvers import Approvers
from bot.casework.patch_check import ANEW, PatchChecks
from bot.domain.citations.links import LinkTo
from bot.domain.fixes import Fix, NewPullRequest, PullRequest, hash_patch
from bot.domain.patches import FixCode, FixRefused
from bot.domain.returns import EvidenceRef
from bot.domain.secrets import redact
from bot.domain.text.sanitize import one_line, strip_hidden
from bot.errors import ProviderError, Unavailable
from bot.ports.code import CodeHostClient
from bot.ports.collections import Collection as Stored

TITLE_CHARS: Final = 72
LINE_CHARS: Final = 300
TEXT_CHARS: Final = 2_000
_OBEYED: Final = re.compile(r"[@#](?=\w)|^/|[\[\]`<>|]")
_TICKS: Final = re.compile(r"`+")

_EXISTS: Final = ("409", "422")
SAID_CHARS: Final = 400
_AGAIN: Final = "Then press Open draft PR again."
_TAKES_NOT: Final = f"It does not take this PR as it is: change what it names. {_AGAIN}"
_MOVED: Final = f"It has moved: whoever runs triage must give the codebase's `origin` its new address. {_AGAIN}"
_NO_BASE: Final = f"The codebase's `branch` in triage.yml must name another, or nothing. {_AGAIN}"
_NEXT: Final = {
    "401": f"It does not accept triage's token: whoever runs triage must replace it. {_AGAIN}",
    "403": f"triage's token may not do that: whoever runs triage must let it push branches and open PRs. {_AGAIN}",
    "404": f"The repository is not there, or triage's token may not see it: whoever runs triage must look. {_AGAIN}",
    **dict.fromkeys(("301", "302", "307", "308"), _MOVED),
    **dict.fromkeys(_EXISTS, _TAKES_NOT),
    "form": "",
}
"""What to do after a refusal, by the HTTP status; the host's own words stand before it."""


def title_of(fix: Fix, secrets: Collection[str] = ()) -> str:
    """Return the patch's title as a commit's subject."""
    return _plain(fix.patch.title, TITLE_CHARS, secrets) or "Change what was asked for"


def commit_message(fix: Fix, secrets: Collection[str] = ()) -> str:
    """Return the commit's message: title, reason, and as trailers what it rests on and who approved it."""
    why = _plain(fix.patch.rationale, LINE_CHARS, secrets)
    reason = [textwrap.fill(f"Why: {why}", 72), ""] if why else []
    name = _plain(fix.asked_by_name, 60, secrets) or fix.asked_by
    trailers = [
        *([f"Triage-Question: {fix.permalink}"] if fix.permalink else []),
        f"Triage-Thread: {fix.thread_id}",
        f"Triage-Patch: {hash_patch(fix.patch)}",
        *(f"Triage-Evidence: {_plain_ref(ref, secrets)}" for ref in fix.evidence),
        f"Co-authored-by: {name} <{fix.asked_by}@{fix.asked_in_team}.slack.invalid>",
    ]
    return "\n".join([title_of(fix, secrets), "", *reason, *trailers]) + "\n"


def request_body(fix: Fix, link_to: LinkTo, secrets: Collection[str] = ()) -> str:
    """Return the body of the pull request."""
    asked = f"[Asked in the chat]({fix.permalink})" if fix.permalink else "Asked in the chat"
    lines = [
        f"{asked}:",
        *_fenced(fix.question, secrets),
        "",
        "**Why**",
        *_fenced(fix.patch.rationale or "The patch gives no reason.", secrets),
        "",
        "**Evidence**",
        *([f"- {_evidence_line(ref, link_to, secrets)}" for ref in fix.evidence] or ["- none"]),
        "",
        "**Checked before it was pushed**",
        *(f"- {said}" for said in fix.checked),
        "",
        f"Proposed by a model; opened by {_plain(fix.asked_by_name, 60, secrets) or fix.asked_by} through triage.",
        "",
        fix.marker,
    ]
    return "\n".join(lines) + "\n"


def _evidence_line(ref: EvidenceRef, link_to: LinkTo, secrets: Collection[str]) -> str:
    name, link = _plain_ref(ref, secrets), link_to(ref)
    claim = _plain(ref.supports_claim, LINE_CHARS, secrets)
    return (f"[`{name}`]({link})" if link else f"`{name}`") + (f": {claim}" if claim else "")


def _plain_ref(ref: EvidenceRef, secrets: Collection[str]) -> str:
    at = f" at {ref.commit[:10]}" if ref.commit else ""
    words = one_line(redact(ref.ref, secrets), LINE_CHARS).replace("`", "'")
    return f"{words}{at}"


def _plain(text: str, width: int, secrets: Collection[str]) -> str:
    """Return foreign words on one line, with no sign that a code host obeys."""
    return one_line(_OBEYED.sub("", redact(strip_hidden(text)[0], secrets)), width)


def _fenced(text: str, secrets: Collection[str]) -> list[str]:
    """Return text as a code block that nothing in it can close."""
    shown = redact(strip_hidden(text)[0], secrets).strip()[:TEXT_CHARS]
    ticks = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(shown)), default=0))
    return [f"{ticks}text", *shown.split("\n"), ticks]


class FixOpening:
    """Opens draft pull requests of one codebase on its code host."""

    def __init__(
        self,
        store: Stored[Fix],
        checks: PatchChecks,
        host: CodeHostClient,
        remote: Remote,
        approvers: Approvers,
        *,
        base: str | None,
        link_to: LinkTo,
        secrets: Collection[str] = (),
    ) -> None:
        self._store, self._checks, self._host, self._remote = store, checks, host, remote
        self._approvers, self._base = approvers, base
        self._link_to, self._secrets = link_to, secrets

    def carry_out(self, fix: Fix) -> PullRequest:
        """Return the draft pull request of a fix, the one that stands already or a new one.

        Raises:
            FixRefused: there will be none, and why.
            Unavailable: not now; what was done is found again.
        """
        try:
            if fix.pushed and (standing := self._host.find(fix.branch, fix.marker)) is not None:
                return standing
            default = self._host.default_branch()  # asked in any case: a wrong token is refused here, with a reason
            base = self._base or default
            with self._checks.repository() as repo:
                tip = repo.remote_tip(self._remote, fix.branch)
                if tip is None or tip not in fix.pushed:
                    fix = self._push(repo, fix, base, tip)
            return self._open(fix, base)
        except Unavailable:
            raise
        except ProviderError as error:
            if error.code is None:  # it took too long
                raise Unavailable(str(error)) from error
            todo = _NEXT.get(error.code, f"Change that on {self._host.name}. {_AGAIN}")
            raise host_refused(error, todo, self._secrets) from error

    def _push(self, repo: PatchRepo, fix: Fix, base: str, tip: str | None) -> Fix:
        """Check the patch, and put its commit on the branch, which is at `tip`; returns the fix with that commit."""
        if not repo.has(fix.commit):
            said = f"The commit {fix.commit[:10]} that the draft cites is not in the codebase any more. {ANEW}"
            raise FixRefused(FixCode.OUTDATED, said)
        tree = self._checks.apply(repo, fix.commit, fix.diff)
        self._checks.require_current(repo, self._newest(repo, fix, base), fix.diff)
        checked = self._checks.check(repo, fix.commit, tree)
        if not self._approvers.allow(fix.asked_by, fix.asked_in_team):
            said = (
                f"<@{fix.asked_by}> asked for it and is no approver any more, or Slack did not say who is. "
                "Nothing was pushed. Any approver can press Open draft PR."
            )
            raise FixRefused(FixCode.NOT_APPROVED, said)
        if tip is not None:
            said = f"The branch `{fix.branch}` stands on {self._host.name} already with other commits; delete it there."
            raise host_refused(said, _AGAIN, self._secrets)
        commit = repo.commit(fix.commit, tree, commit_message(fix, self._secrets), at=fix.asked_at)
        fix = self._store.change(
            fix.id, lambda now: now.evolve(pushed=tuple(dict.fromkeys((*now.pushed, commit))), checked=checked)
        )
        repo.push(self._remote, commit, fix.branch)
        return fix

    def _newest(self, repo: PatchRepo, fix: Fix, base: str) -> str:
        """Return the newest commit of the branch that the request leads to; the cited one must be in its history."""
        if repo.remote_tip(self._remote, base) is None:
            said = f"There is no branch `{base}` on {self._host.name}"
            raise host_refused(said, _NO_BASE, self._secrets)
        newest = repo.fetch(self._remote, base)
        if not repo.contains(newest, fix.commit):
            said = (
                f"The commit {fix.commit[:10]} that the draft cites is not on `{base}` of {self._host.name}. "
                f"Push it there. {_AGAIN}"
            )
            raise FixRefused(FixCode.NOT_PUBLISHED, said)
        return newest

    def _open(self, fix: Fix, base: str) -> PullRequest:
        """Open the request of a branch that stands; one that appeared meanwhile is ours, too."""
        new = NewPullRequest(
            branch=fix.branch,
            base=base,
            title=title_of(fix, self._secrets),
            body=request_body(fix, self._link_to, self._secrets),
        )
        try:
            return self._host.open(new)
        except ProviderError as error:
            if error.code in _EXISTS and (standing := self._host.find(fix.branch, fix.marker)) is not None:
                return standing
            raise


def words_of(said: object, secrets: Collection[str]) -> str:
    """Return what a code host or git says, as people may read it: cut, and without secrets."""
    return redact(str(said), secrets)[:SAID_CHARS]


def host_refused(said: object, todo: str, secrets: Collection[str]) -> FixRefused:
    """Return the refusal in the host's words, and what to do next."""
    return FixRefused(FixCode.HOST, f"{words_of(said, secrets).rstrip('. ')}. {todo}".rstrip())
