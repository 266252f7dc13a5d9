"""Every check of a draft passes what is right and objects, with a reason, to what is wrong."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.storage.files.file_engine import NoteFiles
from bot.agent.ledger import OWN_TOOLS, Ledger
from bot.casework.checks.draft_checks import check_return
from bot.casework.checks.draft_claims import MAX_COMPARED
from bot.domain.questions.rubrics import Rubric, rubric_for
from bot.domain.returns import (
    Claim,
    ClaimKind,
    EvidenceKind,
    EvidenceRef,
    InvestigatorReturn,
    ProposedPatch,
    TriageFile,
    claim_marks,
    join_claims,
    ref_marks,
)
from bot.domain.threads import QuestionType
from bot.errors import ConfigError
from tests.codebases import make_codebases
from tests.gitrepo import commit_files, git, make_repo, write_files
from tests.tables import each_row

APP = "RETRY_LIMIT = 5\n\n\ndef retry():\n    return RETRY_LIMIT\n"
SECONDS_FOR_HOSTILE = 30
"""Far more than it takes on a busy machine."""

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
        "risk": "none",
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
        ({"claims": (Claim(text="Something else.", kind=ClaimKind.OTHER),)}, "schema.claims"),
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


def test_proved_evidence_of_the_rubric_s_kind_is_required(repo: Path) -> None:
    """A question on the state of things is not answered by a file, and a commit that is made up proves no state."""
    assert "log_query" in failures(repo, rubric=rubric_for(QuestionType.STATUS_CHECK))["required_evidence"]
    assert failures(repo, rubric=rubric_for(QuestionType.TECHNICAL_QA)) == {}
    made_up = EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref="f" * 40)
    found = failures(repo, rubric=rubric_for(QuestionType.STATUS_CHECK), evidence_refs=(evidence(repo), made_up))
    assert {"required_evidence", "ref[1].resolves"} <= set(found)


@each_row("tool, ok", [("logs__query", True), *((tool, False) for tool in sorted(OWN_TOOLS))])
def test_what_our_own_tools_answered_is_no_log(repo: Path, tool: str, ok: bool) -> None:
    """A cited search of the code says nothing of the state of things."""
    ledger = Ledger().record_query(tool, "RETRY_LIMIT", "RETRY_LIMIT = 5 in src/app.py")
    result = EvidenceRef(kind=EvidenceKind.LOG_QUERY, ref="1:1")
    found = failures(
        repo, ledger=ledger, rubric=rubric_for(QuestionType.STATUS_CHECK), evidence_refs=(result, evidence(repo))
    )
    assert ("required_evidence" not in found) is ok


def test_the_investigator_may_correct_the_type_of_a_question(repo: Path) -> None:
    """Then the evidence of the corrected type is asked for; a type that nobody knows corrects nothing."""
    status = rubric_for(QuestionType.STATUS_CHECK)
    assert failures(repo, rubric=status, question_type="technical_qa") == {}
    assert "required_evidence" in failures(repo, question_type="status_check")
    assert "required_evidence" in failures(repo, rubric=status, question_type="poetry")


def test_one_false_citation_among_true_ones_fails(repo: Path) -> None:
    """Every citation is checked, not a sample; the marks say which one is false."""
    ret = returned(repo, evidence_refs=(evidence(repo), evidence(repo, quote="RETRY_LIMIT = 6"), evidence(repo)))
    checks = check_return(ret, repo=repo, ledger=None)
    assert ref_marks(checks, 3) == [True, False, True]
    assert [check.name for check in checks if check.ok is False] == ["ref[1].quote"]


def test_a_draft_that_rests_on_the_uncheckable_only_is_not_grounded(repo: Path) -> None:
    """An outside page is neutral beside a proved citation and not enough alone: code cannot print its lines."""
    page = EvidenceRef(kind=EvidenceKind.EXTERNAL_DOC, ref="https://x.io/docs", quote="five")
    assert "grounded" in failures(repo, evidence_refs=(page,), draft_reply="It retries.")
    assert set(failures(repo, evidence_refs=(page,))) == {"grounded", "claim[0]"}
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


def test_high_confidence_needs_every_cited_line_read_and_medium_one(repo: Path) -> None:
    """Of two citations one was opened."""
    refs = (evidence(repo), evidence(repo, ref="src/app.py:4", quote=""))
    ledger = Ledger().record_read("src/app.py", 1, 1, commit=newest(repo), text="")
    assert set(failures(repo, evidence_refs=refs, ledger=ledger, confidence="high")) == {"confidence.read"}
    assert failures(repo, evidence_refs=refs, ledger=ledger, confidence="medium") == {}


@each_row("kind", [QuestionType.TECHNICAL_QA, QuestionType.API_CONTRACT])
def test_high_confidence_on_code_needs_a_line_of_program_code(tmp_path: Path, kind: QuestionType) -> None:
    """A test, a page or a comment alone shows what somebody wrote about it."""
    files = {"src/app.py": "# five\nRETRY_LIMIT = 5\n", "docs/limits.md": "RETRY_LIMIT is 5.\n"}
    repo = make_repo(tmp_path / "repo", {**files, "tests/test_app.py": "assert RETRY_LIMIT == 5\n"})
    ledger = Ledger()
    for name in ("src/app.py", "docs/limits.md", "tests/test_app.py"):
        ledger.record_read(name, 1, 2, commit=newest(repo), text="").record_read(
            name, 1, 1, commit=newest(repo), text=""
        )
    for place, ok in (("docs/limits.md:1", False), ("tests/test_app.py:1", False), ("src/app.py:2", True)):
        given = {"draft_reply": "`RETRY_LIMIT` is 5.", "evidence_refs": (evidence(repo, ref=place, quote=""),)}
        found = failures(repo, rubric=rubric_for(kind), confidence="high", ledger=ledger, **given)
        assert set(found) == (set() if ok else {"confidence.place"}), place
        assert failures(repo, rubric=rubric_for(kind), ledger=ledger, **given) == {}


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
        ("medium", "The limit is guaranteed to be 5.", False),
        ("high", "It might be 5.", False),
        ("high", "It is definitely 5.", True),
        ("medium", "It might be 5.", True),
        ("medium", "Order is not guaranteed.", True),
        ("medium", "It is set in `definitely.py`.", True),
        ("medium", "> definitely, said the asker\n\nIt is 5.", True),
    ],
)
def test_words_of_certainty_match_the_rating(repo: Path, confidence: str, draft: str, matches: bool) -> None:
    """The draft's own words, not its code or quotations, must say what the rating says."""
    found = failures(repo, confidence=confidence, draft_reply=draft, ledger=read_all(repo))
    assert ("confidence.words" not in found) is matches


@each_row(
    "changes",
    [
        {"draft_reply": "The limit is 5. Run `rm -rf /var/data` on the host."},
        {"risk": "rollback"},
        {"risk": "customer_action"},
        {"risk": None},
    ],
)
def test_what_is_risky_needs_high_confidence(repo: Path, changes: dict[str, Any]) -> None:
    """A command that destroys, a risk that the investigator names, and a risk that nobody spoke of."""
    for confidence in ("low", "medium"):
        assert "risk_gate" in failures(repo, confidence=confidence, **changes)
    assert "risk_gate" not in failures(repo, confidence="high", ledger=read_all(repo), **changes)


def test_a_proposed_patch_is_a_code_change(repo: Path) -> None:
    """A patch beside the draft is advice too."""
    patch = ProposedPatch(title="Raise the limit", diff="-5\n+7", rationale="asked for")
    assert "risk_gate" in failures(repo, proposed_patch=patch)


@each_row(
    "draft",
    [
        "Great question! It is 5.",
        "As an AI, I say 5.",
        "It might perhaps be 5.",
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


def test_code_is_not_judged_as_the_draft_s_own_words(tmp_path: Path) -> None:
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


def language(repo: Path, team_language: str | None = None, **changes: Any) -> bool | None:
    """Return what the check of the language says."""
    checks = check_return(returned(repo, **changes), repo=repo, ledger=None, team_language=team_language)
    return next(check.ok for check in checks if check.name == "language")


def test_the_draft_speaks_the_question_s_language_or_the_team_s(repo: Path) -> None:
    """By the fields that the investigator fills in; nothing is guessed where it did not say."""
    assert language(repo, question_language="pt-BR", draft_language="pt") is True
    assert language(repo, question_language="pt", draft_language="en") is False
    assert language(repo, question_language="pt", draft_language="en", team_language="en-GB") is True
    assert language(repo, question_language="en", draft_language="de", team_language="en") is False
    assert language(repo, draft_language="de") is None


def claims(repo: Path, *given: Claim, question: str = "", **changes: Any) -> list[bool | None]:
    """Return the marks of the claims of a draft."""
    ret = returned(repo, claims=given, draft_reply=join_claims(given), **changes)
    return claim_marks(check_return(ret, repo=repo, ledger=read_all(repo), question=question), len(given))


def test_each_claim_is_held_against_the_lines_it_cites(repo: Path) -> None:
    """Backed, refuted, unchecked; of every kind alike; a fact that cites nothing fails."""
    true = Claim(text="`RETRY_LIMIT` is 5.", cites=(0,))
    false = Claim(text="`RETRY_LIMIT` is 300.", cites=(0,))
    vague = Claim(text="It gives up after that.", cites=(0,))
    advice = Claim(text="Set `RETRY_LIMIT` to 9.", kind=ClaimKind.ADVICE, cites=(0,))
    hello = Claim(text="Short answer below.", kind=ClaimKind.OTHER)
    bare = Claim(text="It gives up after that.")
    assert claims(repo, true, false, vague, advice, hello, bare) == [True, False, None, False, None, False]


def test_a_claim_that_cites_what_is_not_there_is_refuted(repo: Path) -> None:
    """A number of no citation, and a citation of nothing."""
    assert claims(repo, Claim(text="The limit is 5.", cites=(3,)), Claim(text="It is 5.", cites=(-1,))) == [False] * 2
    refs = (evidence(repo, ref="src/none.py:1"),)
    assert claims(repo, Claim(text="The limit is 5.", cites=(0,)), evidence_refs=refs) == [False]


def test_of_very_many_claims_the_later_ones_are_marked_without_being_compared(repo: Path) -> None:
    """Nobody waits for a thousand comparisons, and none of them looks backed."""
    true = Claim(text="`RETRY_LIMIT` is 5.", cites=(0,))
    assert claims(repo, *[true] * (MAX_COMPARED + 2)) == [*[True] * MAX_COMPARED, False, False]


def test_the_asker_s_words_may_be_repeated_by_a_claim_that_cites_something(repo: Path) -> None:
    """Their service, their version; but not by a claim without any proof."""
    asked = "Does billing-api 7.2 retry 40 times?"
    said = Claim(text="No, `billing-api` does not retry 40 times: the limit is 5.", cites=(0,))
    assert claims(repo, said, question=asked) == [True]
    assert claims(repo, said) == [False]
    bare = Claim(text="It does not retry 40 times.", kind=ClaimKind.OTHER)
    assert claims(repo, bare, question=asked) == [False]


def test_cited_lines_must_show_something_of_a_claim_besides_the_asker_s_names(repo: Path) -> None:
    """Else they may be the definition of something else, or lines that moved; a number of the asker's is no name."""
    asked = "Where is `backoff` defined, is it 40?"
    wrong = Claim(text="`backoff` is defined in `app/retry.py`.", cites=(0,))
    beside = Claim(text="`backoff` has a limit of 5.", cites=(0,))
    number = Claim(text="It is not 40.", cites=(0,))
    assert claims(repo, wrong, beside, number, question=asked) == [False, True, True]


def test_a_note_whose_lines_changed_backs_no_claim(tmp_path: Path) -> None:
    """What it once rested on is gone, whatever its words still say."""
    repo = make_repo(tmp_path / "repo", {"src/app.py": APP})
    cites = f'cites: [{{"path": "src/app.py", "lines": "1", "commit": "{newest(repo)}", "quote": "RETRY_LIMIT = 5"}}]'
    write_files(tmp_path / "memory", {"limits.md": f'---\nkind: "note"\n{cites}\n---\n\nThe limit is 5.\n'})
    ref = EvidenceRef(kind=EvidenceKind.MEMORY, ref="memory/limits.md:6")
    ret = returned(repo, claims=(Claim(text=DRAFT, cites=(0,)),), evidence_refs=(ref,), draft_reply=DRAFT)

    def mark(text: str) -> bool | None:
        told = ret.with_claims([Claim(text=text, cites=(0,))])
        notes = NoteFiles(tmp_path / "memory")
        return claim_marks(check_return(told, repo=repo, ledger=None, notes=notes), 1)[0]

    assert mark("The limit is 5.") is True
    commit_files(repo, {"src/app.py": "RETRY_LIMIT = 7\n"}, "Raise it")
    assert mark("The limit is 5.") is False


def test_a_file_s_name_counts_as_the_checkout_has_it(tmp_path: Path) -> None:
    """A name that two files bear is given in full; a file that is there has to be cited; what is no file is none."""
    files = {"src/app.py": APP, "lib/app.py": "LIMIT = 9\n", "src/only.py": "PAUSE = 1\n", "run/tool": "x\n"}
    repo = make_repo(tmp_path / "repo", files)
    refs = {"evidence_refs": (evidence(repo), evidence(repo, ref="src/only.py:1", quote=""))}

    def mark(text: str) -> bool | None:
        return claims(repo, Claim(text=text, cites=(0,)), **refs)[0]

    assert mark("The limit is 5, see src/app.py.") is True
    assert mark("The limit is 5, see `src/app.py:1`.") is True
    assert mark("The limit is 5, see app.py.") is False
    assert mark("The limit is 5, see lib/app.py.") is False
    assert mark("The limit is 5, see run/tool.") is False
    assert mark("The limit is 5, see src/nowhere.py.") is False
    assert claims(repo, Claim(text="It pauses 1, see only.py.", cites=(1,)), **refs) == [True]


def test_a_folder_without_git_is_the_operator_s_to_mend(repo: Path, tmp_path: Path) -> None:
    """Evidence is pinned to commits, so there must be some."""
    with pytest.raises(ConfigError):
        check_return(returned(repo), repo=tmp_path, ledger=None)


@each_row("text", ["\u200b", "\u2800", "**", "-", "```\n```", "…"])
def test_a_draft_without_a_word_is_empty(repo: Path, text: str) -> None:
    """What a reader does not see, and marks alone, answer nothing."""
    assert "schema.draft_reply" in failures(repo, draft_reply=text)


def test_no_address_is_too_long_to_be_refused(repo: Path) -> None:
    """Longer ones than any command line holds included."""
    assert "ref[0].resolves" in failures(repo, evidence_refs=(evidence(repo, ref="a/" * 100_000 + "x.py:1"),))


def test_a_citation_that_is_named_again_and_again_counts_once(repo: Path) -> None:
    """Time and memory do not grow with how often a claim names one."""
    claims = (Claim(text="The retry limit is 5.", cites=(0,) * 30_000),) * 20
    began = time.monotonic()
    failed = failures(repo, claims=claims, draft_reply=join_claims(claims))
    assert not any(name.startswith("claim[") for name in failed)
    assert time.monotonic() - began < SECONDS_FOR_HOSTILE


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
        assert "claim[0]" in self.checked(tmp_path, f"The limit is 5 (`{place}`).")

    @pytest.mark.parametrize("name", [".env", "id_rsa", "server.pem", "secrets/prod.yaml"])
    def test_a_file_of_secrets_exists_for_nobody(self, tmp_path: Path, name: str) -> None:
        """The codebase in front of its name does not open it."""
        code = make_codebases(tmp_path, shop={name: "LIMIT = 5\n"}, infra={"a.py": "LIMIT = 5\n"})
        ref = EvidenceRef(kind=EvidenceKind.FILE, ref=f"shop:{name}:1", commit=newest(tmp_path / "shop"))
        checks = check_return(returned(tmp_path / "shop", evidence_refs=(ref,)), repo=code, ledger=None)
        assert ref_marks(checks, 1) == [False]
