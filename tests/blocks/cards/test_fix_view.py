"""A patch on its card: what is offered, how it stands, and its diff."""

from __future__ import annotations

from typing import Any

from blocks import ids
from blocks.cards.draft_card import CardFacts, card_blocks
from blocks.cards.fix_view import diff_fits, diff_modal
from bot.domain.fixes import Fix, FixMark, FixStatus, PullRequest, hash_patch
from bot.domain.patches import FixCode, PatchRefusal
from bot.domain.returns import ProposedPatch
from bot.domain.threads import PendingReason, ThreadState, ThreadStatus
from tests.blocks.cards.test_draft_card import FEW
from tests.blocks.cards.test_evidence_modal import LINK_TO
from tests.blocks.limits import as_slack_takes_it, shown, view_as_slack_takes_it
from tests.builders import THREAD_ID, a_return, in_status
from tests.casework.test_fix_opening import a_fix
from tests.domain.test_patches import a_patch
from tests.tables import each_row

REQUEST = PullRequest(number=7, url="https://git.example/acme/shop/pull/7")
OFFERED = FixMark(host="GitHub", is_offered=True)


def waiting(**changes: Any) -> ThreadState:
    ret = a_return(proposed_patch=a_patch())
    return in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, investigator_return=ret, **changes)


def drawn(mark: FixMark, state: ThreadState | None = None) -> str:
    blocks = card_blocks(state or waiting(), CardFacts(link_to=LINK_TO, fixes=lambda _: mark))
    as_slack_takes_it(blocks)
    return shown(blocks) + repr([block.to_dict() for block in blocks if block.type == "actions"])


def fix_of(**changes: Any) -> Fix:
    return a_fix(patch=a_patch(), **changes)


def test_a_patch_is_offered_bound_to_its_hash() -> None:
    """With a token as a draft request, which asks first; without one as a file."""
    said = drawn(OFFERED)
    assert f"'value': '{THREAD_ID}|{hash_patch(a_patch())}'" in said
    assert ids.OPEN_FIX in said
    assert "pushes a branch to GitHub" in said
    assert "Patch as a file" in drawn(OFFERED._replace(host=None))
    assert ids.OPEN_FIX not in drawn(FixMark(host="GitHub"))


@each_row(
    "changes, words",
    [
        ({}, "*Opening a draft PR*, asked by <@U1>"),
        ({"waits": "GitHub cannot be reached"}, "GitHub cannot be reached; triage tries again by itself"),
        ({"status": FixStatus.OPEN, "request": REQUEST}, "*Draft PR <https://git.example/acme/shop/pull/7|#7>*"),
        ({"status": FixStatus.MERGED, "request": REQUEST}, "is merged"),
        (
            {"status": FixStatus.OPEN, "request": REQUEST, "unseen": "GitHub says: Not Found <!channel>"},
            ":warning: how it stands now is not known: GitHub says: Not Found &lt;!channel&gt;",
        ),
        ({"status": FixStatus.CLOSED, "request": REQUEST}, "was closed* without being merged"),
        (
            {"status": FixStatus.OPEN, "request": REQUEST, "checked": ("the check ran *not isolated*: no unshare",)},
            "not isolated",
        ),
    ],
)
def test_the_card_says_how_it_stands(changes: dict[str, Any], words: str) -> None:
    """In one line."""
    assert words in drawn(FixMark(fixes=(fix_of(**changes),), host="GitHub"))


def test_a_refusal_stands_in_words_and_offers_what_helps() -> None:
    """Another investigation where the code changed, another try in any case."""
    for code, again in ((FixCode.OUTDATED, True), (FixCode.CHECK_FAILED, False)):
        refusal = PatchRefusal(code=code, text="Because <!channel> it is so.")
        fix = fix_of(status=FixStatus.REFUSED, refusal=refusal)
        said = drawn(OFFERED._replace(fixes=(fix,)))
        assert "*No draft PR*: Because &lt;!channel&gt; it is so." in said
        assert ids.OPEN_FIX in said
        assert said.count(f"'action_id': '{ids.REINVESTIGATE}'") == again


def test_a_diff_that_the_dialogue_does_not_show_whole_is_known() -> None:
    """By its lines, and by the length of one."""
    assert diff_fits(a_patch())
    assert not diff_fits(a_patch("\n".join(f"+{n}" for n in range(200))))
    assert not diff_fits(a_patch("+" + "x" * 400))


@each_row("text", FEW.values())
def test_no_patch_breaks_card_or_dialogue(text: str) -> None:
    """The same hostile text as title, diff, reason, and a host's words."""
    patch = ProposedPatch(title=text, diff=text or "+x", rationale=text)
    view_as_slack_takes_it(diff_modal(patch, remark=text))
    refusal = PatchRefusal(code=FixCode.HOST, text=text)
    request = PullRequest(number=1, url=text)
    for changes in ({"status": FixStatus.REFUSED, "refusal": refusal}, {"status": FixStatus.OPEN, "request": request}):
        drawn(FixMark(fixes=(a_fix(patch=patch, waits=text, **changes),), host="GitHub"))
