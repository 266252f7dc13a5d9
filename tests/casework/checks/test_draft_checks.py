"""Every check of a draft passes what is right and objects, with a reason, to what is wrong."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bot.agent.ledger import Ledger
from bot.casework.checks.draft_checks import MAX_DRAFT_CHARS, check_return
from bot.casework.posting.freshness import MAX_REPLY_CHARS
from bot.domain.questions.rubrics import Rubric, rubric_for
from bot.domain.returns import (
    Check,
    EvidenceKind,
    EvidenceRef,
    InvestigatorReturn,
    ProposedPatch,
    TriageFile,
    ref_marks,
)
from bot.domain.threads import QuestionType
from bot.errors import ConfigError
from tests.codebases import make_codebases
from tests.gitrepo import git, make_repo
from tests.tables import each_row

APP = "RETRY_LIMIT = 5\n\n\ndef retry():\n    return RETRY_LIMIT\n"
DRAFT = "The retry limit is 5, and it is set in `src/app.py`."


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of one file."""
    return make_repo(tmp_path_factory.mktemp("checks") / "repo", {"src/app.py": APP})


@cache
def newest(repo: Path) -> str:
    return git(repo, "rev-parse", "HEAD")


def evidence(repo: Path, **changes: Any) -> EvidenceRef:
    """Return a true citation, changed as told."""
    true: dict[str, Any] = {
        "kind": EvidenceKind.FILE,
        "ref": "src/app.py:1",
        "commit": newest(repo),
        "quote": "RETRY_LIMIT = 5",
        "supports_claim": "The limit is 5.",
    }
    return EvidenceRef(**{**true, **changes})


def returned(repo: Path, **changes: Any) -> InvestigatorReturn:
    """Return a draft that every check passes, changed as told."""
    good: dict[str, Any] = {
        "confidence": "medium",
        "confidence_reason": "The constant is named for it.",
        "summary_for_orchestrator": "The retry limit is 5.",
        "draft_reply": DRAFT,
        "evidence_refs": (evidence(repo),),
    }
    return InvestigatorReturn(**{**good, **changes})


def failures(
    repo: Path, *, ledger: Ledger | None = None, rubric: Rubric | None = None, **changes: Any
) -> dict[str, str]:
    """Return the failed checks of a changed draft, each with its reason."""
    checks = check_return(returned(repo, **changes), repo=repo, ledger=ledger, rubric=rubric)
    assert all(check.reason for check in checks)
    assert len({check.name for check in checks}) == len(checks)
    return {check.name: check.reason for check in checks if check.ok is False}


def read_all(repo: Path) -> Ledger:
    """Return the ledger of a run that read the whole file."""
    return Ledger().record_read("src/app.py", 1, 5, commit=newest(repo), text=APP)


def test_a_good_draft_passes_every_check(repo: Path) -> None:
    """A true citation in plain words has nothing against it."""
    assert failures(repo) == {}
    assert failures(repo, confidence="high", ledger=read_all(repo)) == {}


@each_row(
    "changes, name",
    [
        ({"draft_reply": " \n"}, "schema.draft_reply"),
        ({"draft_reply": "word " * 301}, "schema.draft_reply"),
        ({"draft_reply": "検索" * 301}, "schema.draft_reply"),
        ({"draft_reply": "x" * 12_001}, "schema.draft_chars"),
        ({"summary_for_orchestrator": "One. Two. Three."}, "schema.summary"),
        ({"summary_for_orchestrator": ""}, "schema.summary"),
        ({"confidence_reason": "One. Two."}, "schema.confidence_reason"),
        ({"research_notes": "word " * 501}, "schema.research_notes"),
        ({"evidence_refs": ()}, "schema.evidence_refs"),
        ({"proposed_triage_file": TriageFile(filename="../x.md", content="")}, "schema.triage_file"),
        ({"escalation_requested": True}, "schema.escalation"),
    ],
)
def test_a_breach_of_the_caps_is_named(repo: Path, changes: dict[str, Any], name: str) -> None:
    """Each cap has a check of its own, which says how far it was missed."""
    assert name in failures(repo, **changes)


def test_caps_are_met_by_what_just_fits(repo: Path) -> None:
    """300 words, 8 citations, 2 sentences and 500 words of notes are allowed."""
    full = {"draft_reply": "the limit is " * 100, "research_notes": "word " * 500}
    refs = (evidence(repo),) * 8
    assert failures(repo, evidence_refs=refs, summary_for_orchestrator="One, e.g. v1.2. Two.", **full) == {}
    assert "schema.evidence_refs" in failures(repo, evidence_refs=refs * 2)


def test_a_draft_that_passes_is_short_enough_to_be_posted(repo: Path) -> None:
    """The check and the gate before a post have one limit: what is validated can be approved."""
    assert MAX_DRAFT_CHARS == MAX_REPLY_CHARS
    assert "schema.draft_chars" not in failures(repo, draft_reply="x" * MAX_DRAFT_CHARS)


def test_a_claim_is_one_sentence(repo: Path) -> None:
    """What a citation is cited for fits in one sentence."""
    assert "schema.supports_claim" in failures(repo, evidence_refs=(evidence(repo, supports_claim="One. Two."),))


def test_the_rubric_s_kind_of_evidence_is_required(repo: Path) -> None:
    """A question on the state of things is not answered by a file."""
    assert "log_query" in failures(repo, rubric=rubric_for(QuestionType.STATUS_CHECK))["required_evidence"]
    assert "status_check" not in failures(repo, rubric=rubric_for(QuestionType.STATUS_CHECK))["required_evidence"]
    assert failures(repo, rubric=rubric_for(QuestionType.TECHNICAL_QA)) == {}


def test_one_false_citation_among_true_ones_fails(repo: Path) -> None:
    """Every citation is checked, not a sample; the marks say which one is false."""
    ret = returned(repo, evidence_refs=(evidence(repo), evidence(repo, quote="RETRY_LIMIT = 6"), evidence(repo)))
    checks = check_return(ret, repo=repo, ledger=None)
    assert ref_marks(checks, 3) == [True, False, True]
    assert [check.name for check in checks if check.ok is False] == ["ref[1].quote"]


def test_a_draft_that_rests_on_the_uncheckable_only_is_not_grounded(repo: Path) -> None:
    """An outside page is neutral beside a proved citation and not enough alone."""
    page = EvidenceRef(kind=EvidenceKind.EXTERNAL_DOC, ref="https://x.io/docs", quote="five")
    assert set(failures(repo, evidence_refs=(page,))) == {"grounded", "draft.places"}
    assert failures(repo, evidence_refs=(page, evidence(repo))) == {}
    checks = check_return(returned(repo, evidence_refs=(page, evidence(repo))), repo=repo, ledger=None)
    assert ref_marks(checks, 2) == [None, True]


@each_row(
    "ledger",
    [
        None,
        Ledger(),
        Ledger().record_read("src/app.py", 2, 5, commit="HEAD", text=""),
        Ledger().record_read("src/other.py", 1, 5, commit="HEAD", text=""),
        Ledger().record_read("src/app.py", 1, 5, commit="f" * 40, text=""),
    ],
)
def test_high_and_medium_confidence_need_the_lines_to_have_been_read(repo: Path, ledger: Ledger | None) -> None:
    """No ledger, other lines, another file or another commit: not read."""
    assert set(failures(repo, confidence="high", ledger=ledger)) == {"confidence.read"}
    assert set(failures(repo, confidence="medium", ledger=ledger)) == ({"confidence.read"} if ledger else set())
    assert failures(repo, confidence="low", ledger=ledger) == {}


def test_high_confidence_in_a_query_or_a_commit_needs_it_in_the_ledger(repo: Path) -> None:
    """What is not a file counts as read when the run asked for it."""
    head = git(repo, "rev-parse", "HEAD")
    commit = EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref=head, quote="first")
    assert "confidence.read" in failures(repo, confidence="high", evidence_refs=(commit,), ledger=Ledger())
    shown = Ledger().record_query("git_show", head)
    assert failures(repo, confidence="high", evidence_refs=(commit,), ledger=shown) == {}


@each_row("tool", ["search_code", "search_memory", "mcp_logs", "git_log", "git_blame"])
def test_a_commit_that_only_the_question_named_was_not_read(repo: Path, tool: str) -> None:
    """A search repeats the asker's words, so whoever asks could vouch for any commit; only git_show counts."""
    head = git(repo, "rev-parse", "HEAD")
    commit = EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref=head, quote="first")
    asked = Ledger().record_query(tool, f"what did {head} change?").record_query(tool, head)
    for confidence in ("high", "medium"):
        assert "confidence.read" in failures(repo, confidence=confidence, evidence_refs=(commit,), ledger=asked)
        read = asked.model_copy(deep=True).record_query("git_show", head)
        assert failures(repo, confidence=confidence, evidence_refs=(commit,), ledger=read) == {}


@each_row(
    "confidence, draft, matches",
    [
        ("medium", "It is definitely 5.", False),
        ("low", "This is certainly the limit.", False),
        ("medium", "The limit is guaranteed to be 5.", False),
        ("high", "It might be 5.", False),
        ("high", "I am not sure, but it is 5.", False),
        ("high", "It is definitely 5.", True),
        ("medium", "It might be 5.", True),
        ("medium", "Order is not guaranteed.", True),
        ("medium", "It is set in `definitely.py`.", True),
        ("medium", "> definitely, said the asker\n\nIt is 5.", True),
        ("medium", "```\n# definitely\n```\nIt is 5.", True),
        ("medium", "Es ist definitiv 5.", False),
        ("high", "多分5です。", False),
    ],
)
def test_words_of_certainty_match_the_rating(repo: Path, confidence: str, draft: str, matches: bool) -> None:
    """The draft's own words, not its code or quotations, must say what the rating says."""
    found = failures(repo, confidence=confidence, draft_reply=draft, ledger=read_all(repo))
    assert ("confidence.words" not in found) is matches


@each_row(
    "draft",
    [
        "Roll back the deploy to v1.2.",
        "You should revert PR 12.",
        "Delete the rows in `orders`.",
        "Run `rm -rf /var/data` on the host.",
        "Change line 12 in `config.py` to 7.",
        "```diff\n-RETRY_LIMIT = 5\n+RETRY_LIMIT = 7\n```",
        "Tell the customer to upgrade their plan.",
    ],
)
def test_risky_advice_needs_high_confidence(repo: Path, draft: str) -> None:
    """Code changes, rollbacks, deletions and one customer's affairs are for those who are sure."""
    for confidence in ("low", "medium"):
        assert "risk_gate" in failures(repo, draft_reply=draft, confidence=confidence)
    assert "risk_gate" not in failures(repo, draft_reply=draft, confidence="high", ledger=read_all(repo))


def test_a_proposed_patch_is_a_code_change(repo: Path) -> None:
    """A patch beside the draft is advice too."""
    patch = ProposedPatch(title="Raise the limit", diff="-5\n+7", rationale="asked for")
    assert "risk_gate" in failures(repo, proposed_patch=patch)


@each_row(
    "draft",
    [
        "Great question! It is 5.",
        "I'd be happy to help: it is 5.",
        "As an AI, I say 5.",
        "It is 5. I hope this helps!",
        "It is 5. Let me know if you have questions.",
        "It might perhaps be 5.",
        "Certainly! It is 5.",
    ],
)
def test_a_machine_s_manners_are_faulted(repo: Path, draft: str) -> None:
    """Stock phrases and stacked hedges are not how a colleague writes."""
    assert "tone" in failures(repo, draft_reply=draft)


@each_row(
    "words, check",
    [
        ("Run `rm\u2060 -rf /data` now.", "risk_gate"),
        (f"Use ghp\u200b_{'a1B2' * 9}.", "secrets"),
    ],
)
def test_characters_that_nobody_sees_hide_nothing_from_the_checks(repo: Path, words: str, check: str) -> None:
    """A draft is judged as its readers see it, and posted so."""
    assert check in failures(repo, confidence="medium", draft_reply=f"The limit is 5. {words}")


@each_row(
    "shout",
    ["<!channel>", "<!here|here>", "@everyone", "@Here", "<!subteam^S01|@ops>", "<!chan\u200bnel>", "@chan\u200bnel"],
)
def test_a_broadcast_in_the_draft_is_refused(repo: Path, shout: str) -> None:
    """Nobody's phone rings because of a draft."""
    assert "broadcast" in failures(repo, draft_reply=f"The limit is 5. {shout} take note.")


def test_evidence_is_not_judged_as_the_draft_s_own_words(tmp_path: Path) -> None:
    """A quoted line may hold what the draft itself may not say."""
    line = "# @channel: definitely DELETE FROM orders, great question"
    repo = make_repo(tmp_path / "repo", {"a.py": line + "\n"})
    ref = evidence(repo, ref="a.py:1", quote=line)
    assert failures(repo, draft_reply=f"The comment says:\n\n```\n{line}\n```", evidence_refs=(ref,)) == {}


def test_a_secret_is_found_wherever_it_would_be_kept_or_shown(repo: Path) -> None:
    """Draft, summary, notes and quotes are all stored or shown."""
    secret = "ghp" + "_" + "aB3d" * 9
    for field in ("draft_reply", "summary_for_orchestrator", "research_notes"):
        reason = failures(repo, **{field: f"use {secret} here"})["secrets"]
        assert "GitHub token" in reason
        assert secret not in reason
    assert "secrets" in failures(repo, evidence_refs=(evidence(repo, quote=secret),))


def test_the_process_s_own_secrets_may_not_leave(repo: Path) -> None:
    """A value that looks like nothing is still ours."""
    ret = returned(repo, draft_reply="the limit is plainlooking")
    checks = check_return(ret, repo=repo, ledger=None, known_secrets=["plainlooking"])
    assert "secrets" in {check.name for check in checks if check.ok is False}


def test_the_draft_is_in_the_language_it_says_and_the_one_asked_for(repo: Path) -> None:
    """A wrong claim and a wrong language both fail; a text too short to tell is neither."""
    german = "Das Limit ist 5 und wird von der Konstante gesetzt, die auch für die Tests gilt."
    assert "language" in failures(repo, draft_reply=german)
    assert failures(repo, draft_reply=german, draft_language="de") == {}
    assert "language" in failures(repo, rubric=rubric_for(QuestionType.OTHER, language="de"))
    short = check_return(returned(repo, draft_reply="5"), repo=repo, ledger=None)
    assert next(check for check in short if check.name == "language").ok is None


def test_a_statement_without_a_citation_is_marked_and_keeps_a_draft_from_high(repo: Path) -> None:
    """Below `high` it is told and fails nothing; a refuted citation stands beside nothing."""
    draft = "The retry limit is 5, and a token lives for 12 hours."

    def statements(**changes: Any) -> Check:
        checks = check_return(returned(repo, **changes), repo=repo, ledger=read_all(repo))
        return next(check for check in checks if check.name == "draft.statements")

    assert statements(draft_reply="`RETRY_LIMIT` allows 5 attempts.", confidence="high").ok is True
    told = statements(draft_reply=draft)
    assert told.ok is None
    assert "12 hours" in told.reason
    assert failures(repo, draft_reply=draft, ledger=read_all(repo)) == {}
    assert set(failures(repo, draft_reply=draft, confidence="high", ledger=read_all(repo))) == {"draft.statements"}
    refuted = (evidence(repo), evidence(repo, quote="TOKEN_HOURS = 12"))
    assert statements(draft_reply=draft, evidence_refs=refuted).ok is None


def test_marks_of_checks_nobody_made_are_unknown() -> None:
    """A citation without checks has no mark, and a stray name does no harm."""
    assert ref_marks([Check(name="ref[7].quote", ok=False, reason="x")], 2) == [None, None]


def test_a_folder_without_git_is_the_operator_s_to_mend(repo: Path, tmp_path: Path) -> None:
    """Evidence is pinned to commits, so there must be some."""
    with pytest.raises(ConfigError):
        check_return(returned(repo), repo=tmp_path, ledger=None)


class TestSeveralCodebases:
    """A draft over several codebases says which one it means."""

    def checked(self, folder: Path, draft: str, *, read: str = "shop:src/both.py") -> dict[str, str]:
        """Return the failed checks of a draft that cites the shop's limit, read as it is written down."""
        code = make_codebases(folder)
        at = git(folder / "shop", "rev-parse", "HEAD")
        ref = EvidenceRef(kind=EvidenceKind.FILE, ref="shop:src/both.py:1", commit=at, quote="LIMIT = 5")
        ret = returned(folder / "shop", draft_reply=draft, evidence_refs=(ref,))
        ledger = Ledger().record_read(read, 1, 1, commit=at, text="LIMIT = 5")
        checks = check_return(ret, repo=code, ledger=ledger)
        return {check.name: check.reason for check in checks if check.ok is False}

    @pytest.mark.parametrize("place", ["shop:src/both.py:1", "src/both.py:1", "shop:src/both.py", "both.py"])
    def test_the_place_that_is_proved_may_be_named(self, tmp_path: Path, place: str) -> None:
        """With its codebase or without."""
        assert self.checked(tmp_path, f"The limit is 5 (`{place}`).") == {}

    @pytest.mark.parametrize("place", ["infra:src/both.py:1", "infra:src/both.py", "shop:src/cart.py:1"])
    def test_another_codebase_s_place_may_not(self, tmp_path: Path, place: str) -> None:
        """The same path in another repository is another file."""
        assert "draft.places" in self.checked(tmp_path, f"The limit is 5 (`{place}`).")

    def test_reading_another_codebase_s_file_is_no_reading(self, tmp_path: Path) -> None:
        """Medium confidence needs these very lines."""
        failed = self.checked(tmp_path, "The limit is 5 (`shop:src/both.py:1`).", read="infra:src/both.py")
        assert "confidence.read" in failed
