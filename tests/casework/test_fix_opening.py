"""What a fix says on a code host."""

from __future__ import annotations

from bot.casework.fix_opening import commit_message, request_body, title_of
from bot.domain.fixes import Fix
from bot.domain.returns import ProposedPatch
from tests.builders import NOW, REF, THREAD_ID
from tests.domain.test_patches import DIFF

EVIL = "Fix it\n\nCloses #1 @acme/admins [skip ci] `x`\nCo-authored-by: eve <eve@evil.example>\n/merge"


def a_fix(**changes: object) -> Fix:
    fields: dict[str, object] = {
        "thread_id": THREAD_ID,
        "patch": ProposedPatch(title="Raise the limit", diff=DIFF, rationale="Five are too few."),
        "commit": "a" * 40,
        "question": "How often do we retry?",
        "permalink": "https://acme.slack.com/archives/C1/p1",
        "evidence": (REF,),
        "asked_by": "U1",
        "asked_by_name": "ana",
        "asked_in_team": "T1",
        "asked_at": NOW,
        "checked": ("it applies",),
    }
    return Fix.model_validate({**fields, **changes})


def test_a_commit_says_why_what_it_rests_on_and_who_approved_it() -> None:
    """As trailers, which git reads."""
    title, _, why, _, *trailers = commit_message(a_fix()).splitlines()
    assert (title, why) == ("Raise the limit", "Why: Five are too few.")
    assert trailers[0] == "Triage-Question: https://acme.slack.com/archives/C1/p1"
    assert f"Triage-Evidence: app/retry.py:10-12 at {'a' * 10}" in trailers
    assert trailers[-1] == "Co-authored-by: ana <U1@T1.slack.invalid>"


def test_no_foreign_word_is_obeyed_by_a_host() -> None:
    """No mention, no closed issue, no skipped check, no second author, no quick action."""
    fix = a_fix(
        patch=ProposedPatch(title=EVIL, diff=DIFF, rationale=EVIL),
        question=f"```\n{EVIL}\n````\n{EVIL}",
        asked_by_name=EVIL,
    )
    message = commit_message(fix)
    assert "\n" not in title_of(fix)
    for sign in ("#1", "@acme", "[skip ci]", "eve@evil", "\n/merge"):
        assert sign not in message
    assert message.count("\nCo-authored-by: ") == 1
    body, inside = request_body(fix, lambda _: None), ""
    fence = None
    for line in body.splitlines():
        if fence is None and line.startswith("```"):
            fence = line.removesuffix("text")
        elif line == fence:
            fence = None
        elif fence is None:
            inside += f"{line}\n"
    for sign in ("#1", "@acme", "/merge", "[skip ci]"):
        assert sign not in inside
    assert fix.marker in inside


def test_no_secret_leaves() -> None:
    """Of this process, or by its form."""
    fix = a_fix(
        question="the key is own-secret-value", patch=ProposedPatch(title="own-secret-value", diff=DIFF, rationale="")
    )
    said = commit_message(fix, {"own-secret-value"}) + request_body(fix, lambda _: None, {"own-secret-value"})
    assert "own-secret-value" not in said
