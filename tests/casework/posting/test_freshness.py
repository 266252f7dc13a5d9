"""What changed between a draft and the click."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.agent.git.git_repo import GitRepo
from bot.casework.posting.freshness import find_changes, quotes_at_head
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.waits import wrote_in_thread
from bot.errors import ProviderError
from bot.ports import ChatMessage
from tests.builders import NOW, QUESTION_TS, REF, a_return
from tests.casework.office import Office
from tests.gitrepo import commit_files, git, make_repo


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """An office with a draft that waits since 09:01."""
    return Office(tmp_path).asked()


def changes(office: Office) -> list[tuple[str, bool]]:
    found = find_changes(office.service, office.state, lambda ref: ref.ref not in office.changed_refs)
    return [(change.text, change.is_hard) for change in found]


def at(seconds: float) -> str:
    return f"{(NOW + timedelta(seconds=seconds)).timestamp():.6f}"


def say(office: Office, seconds: float, **fields: object) -> None:
    message = {"message_id": at(seconds), "sender_id": "U3", "text": "x", **fields}
    office.workspace.say("C1", QUESTION_TS, ChatMessage(**message))  # type: ignore[arg-type]


def test_only_people_who_wrote_after_the_draft_count(office: Office) -> None:
    """Earlier messages were read for the draft, and bots are no people."""
    say(office, 30)
    say(office, 61, is_bot=True)
    assert changes(office) == []
    say(office, 62)
    assert changes(office) == [("<@U3> wrote in the thread (2026-11-20 09:01:02 UTC)", False)]


def test_a_recorded_follow_up_is_not_counted_again(office: Office) -> None:
    """The state holds its doubt already, in the very same words."""
    event = office.says("we use v2")
    assert changes(office) == []
    assert office.state.stale_reasons == (wrote_in_thread(event.sender.id, event.create_time).text,)


def test_an_edited_question_is_a_doubt_and_a_deleted_one_a_stop(office: Office) -> None:
    """Other words may be answered anyway; a missing message may not."""
    office.workspace.edit("C1", QUESTION_TS, QUESTION_TS, "other words")
    assert [hard for _, hard in changes(office)] == [False]
    office.workspace.delete("C1", QUESTION_TS, QUESTION_TS)
    assert changes(office) == [("the message to answer is gone", True)]


def test_a_preview_below_a_link_is_no_edit(office: Office) -> None:
    """Slack shows what a question links to after it was asked; only a bot's words change without a mark."""
    place = office.workspace.threads["C1", QUESTION_TS]
    place[0] = replace(place[0], text=f"{place[0].text}\n> Ann:\n> it fails")
    assert changes(office) == []
    place[0] = replace(place[0], is_bot=True)
    assert [hard for _, hard in changes(office)] == [False]


def test_a_deleted_reply_that_asked_is_a_stop_though_its_thread_stands(tmp_path: Path) -> None:
    """The question may be a reply; then its parent is not enough."""
    office = Office(tmp_path)
    office.workspace.say("C1", QUESTION_TS, ChatMessage(message_id=QUESTION_TS, sender_id="U9", text="deploying"))
    event = office.says("is it done?")
    office.workspace.delete("C1", QUESTION_TS, event.message_id)
    assert changes(office) == [("the question was deleted", True)]


def test_a_public_ops_channel_is_a_stop(office: Office) -> None:
    """Whatever else changed."""
    office.changed_refs.add(REF.ref)
    office.workspace.private.clear()
    assert changes(office) == [("the ops channel is no longer private", True)]


def test_an_archived_channel_is_a_stop(office: Office) -> None:
    """Nothing can be posted there, whatever else changed."""
    office.changed_refs.add(REF.ref)
    office.workspace.archived.add("C1")
    assert changes(office) == [("the channel was archived", True)]


def test_only_file_citations_are_compared_with_the_code(tmp_path: Path) -> None:
    """A commit stays what it was, a log query cannot be repeated here."""
    refs = [REF.model_copy(update={"kind": kind}) for kind in EvidenceKind if kind is not EvidenceKind.FILE]
    office = Office(tmp_path, a_return(evidence_refs=tuple(refs))).asked()
    office.changed_refs.add(REF.ref)
    assert changes(office) == []


def test_a_chat_that_cannot_say_is_an_error(office: Office) -> None:
    """Silence is not freshness."""
    office.workspace.down = True
    with pytest.raises(ProviderError):
        changes(office)


class TestQuotesAtHead:
    """A quote against the committed file of today."""

    def test_a_quote_stands_wherever_it_has_moved_to(self, tmp_path: Path) -> None:
        """Lines above it do not matter, white space at line ends neither; the worktree is not asked."""
        repo = make_repo(tmp_path, {"a.py": "limit = 5\nretry = True\n"})
        stands = quotes_at_head(GitRepo(repo))
        ref = EvidenceRef(kind=EvidenceKind.FILE, ref="a.py:1-2", commit="0" * 40, quote="limit = 5  \nretry = True")
        assert stands(ref)
        (repo / "a.py").write_text("limit = 3\n")
        assert stands(ref)
        commit_files(repo, {"a.py": "# moved\n\nlimit = 5\nretry = True\n"})
        assert stands(ref)
        commit_files(repo, {"a.py": "limit = 5\n\nretry = True\n"})
        assert not stands(ref)

    def test_a_file_that_is_gone_holds_no_quote(self, tmp_path: Path) -> None:
        """Deleted or renamed."""
        repo = make_repo(tmp_path, {"a.py": "limit = 5\n", "b.py": ""})
        git(repo, "rm", "-q", "a.py")
        git(repo, "commit", "-qm", "gone")
        ref = EvidenceRef(kind=EvidenceKind.FILE, ref="a.py:1", commit="0" * 40, quote="limit = 5")
        assert not quotes_at_head(GitRepo(repo))(ref)
