"""What of a posted reply is proved, and who may see which part of the proof, over a real repository."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from blocks.cards.evidence_modal import proof_modal
from bot.agent.git.git_repo import GitRepo
from bot.casework.approvers import Approvers
from bot.casework.checks.addresses import EvidenceReader
from bot.casework.checks.sources import Lines
from bot.casework.posting.reply_proof import GONE, ProofAccess, ProofReader, ReadProof, proof_of, proof_words
from bot.domain.returns import Check, Claim, ClaimKind, EvidenceKind, EvidenceRef
from bot.domain.threads import PostIntent, Resolution, Round, ThreadState, ThreadStatus, reply_id_of
from bot.errors import InputError
from bot.ports import Person
from tests.blocks.limits import texts, view_as_slack_takes_it
from tests.builders import NOW, THREAD_ID, a_return, in_status
from tests.fakes import FakeWorkspace, MemoryThreads
from tests.gitrepo import commit_files, make_repo
from tests.tables import each_row

ANN, BEN, GUEST, PARTNER, LEFT = "U1", "U2", "U3", "U4", "U5"
CLAIMS = (
    Claim(text="The limit is 5.", cites=(0,)),
    Claim(text="It waits 30 s.", cites=(1,)),
    Claim(text="So try again.", kind=ClaimKind.OTHER, cites=(0, 1)),
)
FILES = {"app/retry.py": "import time\n\nlimit = 5\nwait = 30\n", "app/.env": "KEY=1\n"}


def a_file(ref: str, commit: str = "4f1c2d9e" * 5, quote: str = "") -> EvidenceRef:
    return EvidenceRef(kind=EvidenceKind.FILE, ref=ref, commit=commit, quote=quote)


def replied(
    refs: tuple[EvidenceRef, ...],
    marks: tuple[bool | None, ...] = (True, True),
    claims: tuple[bool | None, ...] = (True, True, None),
    **changes: Any,
) -> ThreadState:
    """Return a thread whose reply was approved, with these marks of its citations and claims."""
    ret = a_return(evidence_refs=refs).with_claims(CLAIMS)
    checks = [Check(name=f"ref[{at}].resolves", ok=mark, reason="") for at, mark in enumerate(marks)]
    checks += [Check(name=f"claim[{at}]", ok=mark, reason="") for at, mark in enumerate(claims)]
    known: dict[str, Any] = {
        "investigator_return": ret,
        "rounds": (Round(round=1, investigator_return=ret, checks=tuple(checks)),),
        "approved_by": BEN,
        "posted_message_id": "1795165999.000100",
        "resolution": Resolution.APPROVED,
    }
    return in_status(ThreadStatus.CLOSED, **known).with_draft(ret.draft_reply).evolve(**changes)


PLACES = (a_file("app/retry.py:3"), a_file("app/retry.py:4"))


@each_row(
    "refs, marks, claims, edit, said",
    [
        (
            PLACES,
            (True, None),
            (True, False, None),
            None,
            "✓ 1 place matches commit 4f1c2d9 · not proved: 1 place, 1 sentence · approved by Ben",
        ),
        (
            (PLACES[0], EvidenceRef(kind=EvidenceKind.MEMORY, ref="memory/a.md:3")),
            (True, True),
            (True, True, True),
            None,
            "✓ 1 place matches commit 4f1c2d9 · ✓ 1 tool result or note · approved by Ben",
        ),
        (
            (),
            (),
            (None, None, None),
            None,
            "Code proved nothing of this reply · not proved: 2 sentences · approved by Ben",
        ),
        (
            PLACES,
            (True, True),
            (True, True, True),
            "The limit is 5. It waits 90 s.",
            "✓ 1 place matches commit 4f1c2d9 · not proved: what was edited · edited and approved by Ben",
        ),
    ],
)
def test_the_line_counts_what_is_proved_and_what_is_not(
    refs: tuple[EvidenceRef, ...],
    marks: tuple[bool | None, ...],
    claims: tuple[bool | None, ...],
    edit: str | None,
    said: str,
) -> None:
    """What states nothing counts only where it is wrong; of an edited reply what stands in it as a whole sentence."""
    state = replied(refs, marks, claims)
    state = state if edit is None else state.with_draft(edit, by=BEN)
    assert proof_words(proof_of(state), "Ben") == said


def test_words_of_an_earlier_round_count_by_its_checks() -> None:
    """A human kept them while a newer draft came beside them."""
    state = replied(PLACES)
    newer = a_return("Something else.", evidence_refs=()).with_claims([Claim(text="Something else.")])
    state = state.evolve(investigator_return=newer, rounds=(*state.rounds, Round(round=2, investigator_return=newer)))
    edited = state.with_draft("The limit is 5. My own words.", by=BEN)
    assert "1 place matches" in proof_words(proof_of(edited), None)


class Desk:
    """A reply about a real repository that has moved on since, and the people of a workspace."""

    def __init__(self, folder: Path) -> None:
        code = make_repo(folder, FILES)
        self.repo = GitRepo(code)
        head = self.repo.head()
        refs = (
            a_file("app/retry.py:3", head, "limit = 5"),
            a_file("app/retry.py:4", head, "wait = 30"),
            a_file("app/.env:1", head, "KEY=1"),
            EvidenceRef(kind=EvidenceKind.LOG_QUERY, ref="7:1", quote="secret of a tool"),
        )
        self.state = replied(refs, (True, True, True, True))
        self.store, self.workspace = MemoryThreads(), FakeWorkspace()
        self.store.put(self.state.evolve(closed_at=NOW))
        self.store.archive(THREAD_ID)
        commit_files(code, {"app/retry.py": "import time\n\nlimit = 5\nwait = 90\n"})
        self.workspace.groups = {"C0OPS": frozenset({BEN}), "C1": frozenset({ANN, BEN})}
        known = {GUEST: {"is_guest": True}, PARTNER: {"is_external": True}, LEFT: {"is_deactivated": True}}
        for user, facts in known.items():
            self.workspace.people[user] = Person(user_id=user, name=user, **facts)
        approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=self.workspace)
        evidence = EvidenceReader(repo=self.repo)
        self.reader = ProofReader(store=self.store, evidence=evidence, workspace=self.workspace, approvers=approvers)

    def read(self, user: str, chat_id: str = "C1", reply_id: str = "") -> ReadProof:
        reply_id = reply_id or reply_id_of(self.state)
        return self.reader.read(THREAD_ID, reply_id, user=user, team="T1", chat_id=chat_id)

    def seen(self, user: str) -> str:
        modal = proof_modal(self.read(user), "line", lambda _: "https://code.acme.io/x")
        return "\n".join(texts(view_as_slack_takes_it(modal)))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """What a click on an archived reply finds."""
    return Desk(tmp_path)


def test_a_member_sees_the_lines_at_their_commit_and_whether_they_changed(desk: Desk) -> None:
    """With the sentences they prove; nothing of tools, and no file that is withheld."""
    shown = desk.seen(ANN)
    assert "✓ The limit is 5." in shown
    assert "3  limit = 5" in shown
    assert "4  wait = 30" in shown
    assert shown.count("the same today") == 1
    assert shown.count("changed since then") == 1
    assert "KEY=1" not in shown
    assert "secret of a tool" not in shown
    assert "1 tool result or note only for approvers" in shown


@each_row("user", [GUEST, PARTNER])
def test_a_guest_sees_places_only(desk: Desk, user: str) -> None:
    """Neither lines nor links."""
    shown = desk.seen(user)
    assert "app/retry.py:3" in shown
    assert "limit = 5" not in shown
    assert "https://" not in shown


def test_an_approver_sees_results_of_tools_too(desk: Desk) -> None:
    """From wherever they look."""
    read = desk.read(BEN, chat_id="C0OPS")
    assert (read.access, len(read.shown), read.withheld) == (ProofAccess.ALL, 4, 0)


def test_nobody_else_is_shown_anything(desk: Desk) -> None:
    """Who clicked elsewhere, left the private channel or the company, or asks for what is not on file."""
    with pytest.raises(InputError, match="who can read the thread"):
        desk.read(ANN, chat_id="C9")
    with pytest.raises(InputError, match="who can read the thread"):
        desk.read(LEFT)
    desk.workspace.private.add("C1")
    assert desk.read(ANN).access is ProofAccess.LINES
    with pytest.raises(InputError, match="who can read the thread"):
        desk.read(GUEST)
    with pytest.raises(InputError, match=GONE):
        desk.read(ANN, reply_id="0" * 16)
    desk.workspace.down = True
    with pytest.raises(InputError, match="Slack does not say"):
        desk.read(ANN)


def test_an_earlier_reply_in_a_thread_keeps_its_own_proof(desk: Desk) -> None:
    """A later question in the same thread has another one."""
    later = replied(PLACES[:1], (True,), opened_by_message_id="1795166000.000100")
    desk.store.put(later.evolve(post_intent=PostIntent(at=NOW, draft_hash="0" * 16), posted_message_id=None))
    assert len(desk.read(BEN).shown) == 4
    assert len(desk.read(BEN, reply_id=reply_id_of(later)).shown) == 1


def test_a_twin_is_proved_by_the_thread_that_was_investigated_for_it(desk: Desk) -> None:
    """It has the draft, but no rounds of its own."""
    twin = desk.state.evolve(thread_id="T1.C1.1795165300.000100", twin_of=THREAD_ID, rounds=())
    desk.store.put(twin)
    read = desk.reader.read(twin.thread_id, reply_id_of(twin), user=ANN, team="T1", chat_id="C1")
    assert [shown.mark for shown, _ in read.shown[:2]] == [True, True]


def test_the_largest_proof_fits_into_a_dialogue(desk: Desk) -> None:
    """What there is no room for is counted."""
    [(first, _), *_] = desk.read(BEN).shown
    assert isinstance(first.found, Lines)
    long = first._replace(found=replace(first.found, lines=("词" * 200,) * 40, shown=("词" * 200,) * 40))
    read = replace(desk.read(BEN), shown=[(long, ["词" * 900] * 9)] * 60)
    modal = view_as_slack_takes_it(proof_modal(read, "line", lambda _: "https://code.acme.io/" + "x" * 900))
    assert "more are not shown here" in "\n".join(texts(modal))
