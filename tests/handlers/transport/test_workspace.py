"""What the bot asks Slack about itself."""

from __future__ import annotations

from typing import Any

import pytest

from bot.errors import ProviderError
from bot.ports.collections import PEOPLE
from handlers.transport.name_book import NameBook
from handlers.transport.slack_clients import repeatable_client
from handlers.transport.workspace import CACHE_S, SlackWorkspace
from tests.fakes import FakeMonotonic, MemoryDocuments
from tests.handlers.slack_stub import Answer, SlackStub, refusal, slack_stub
from tests.tables import each_row


@pytest.fixture
def workspace(slack: SlackStub, watch: FakeMonotonic) -> SlackWorkspace:
    """The real workspace over the stub."""
    return SlackWorkspace(repeatable_client("xoxb-1", slack.url), team_id="T1", bot_user_id="U0BOT", monotonic=watch)


@pytest.mark.parametrize(
    ("user", "name", "flags"),
    [
        ({"team_id": "T1", "profile": {"display_name": "ann"}, "real_name": "Ann B"}, "ann", ()),
        ({"team_id": "T1", "profile": {"display_name": ""}, "real_name": "Ann B"}, "Ann B", ()),
        ({"team_id": "T1", "name": "annb"}, "annb", ()),
        ({"team_id": "T1"}, "U1", ()),
        ({"team_id": "T1", "is_bot": True}, "U1", ("is_bot",)),
        ({"team_id": "T1", "is_restricted": True}, "U1", ("is_guest",)),
        ({"team_id": "T1", "is_ultra_restricted": True}, "U1", ("is_guest",)),
        ({"team_id": "T9"}, "U1", ("is_external",)),
        ({"team_id": "T1", "is_stranger": True}, "U1", ("is_external",)),
        ({"team_id": "T1", "deleted": True}, "U1", ("is_deactivated",)),
    ],
)
def test_a_person_is_named_and_known_for_what_they_are(
    slack: SlackStub, workspace: SlackWorkspace, user: dict[str, Any], name: str, flags: tuple[str, ...]
) -> None:
    """The best name there is; guests, bots, partners and those who left are told apart."""
    slack.will("users.info", Answer({"user": user}))
    person = workspace.person("U1")
    assert person.name == name
    known = ("is_bot", "is_guest", "is_external", "is_deactivated")
    assert tuple(flag for flag in known if getattr(person, flag)) == flags


@pytest.mark.parametrize(
    ("user", "external"),
    [
        ({"team_id": "T2", "enterprise_user": {"enterprise_id": "E1", "teams": ["T2"]}}, False),
        ({"team_id": "T2", "enterprise_user": {"enterprise_id": "E7", "teams": ["T2", "T1"]}}, False),
        ({"team_id": "T2", "is_stranger": True, "enterprise_user": {"enterprise_id": "E1", "teams": []}}, False),
        ({"team_id": "E1", "enterprise_user": {"enterprise_id": "E1", "teams": ["T2"]}}, False),
        ({"team_id": "T9", "enterprise_user": {"enterprise_id": "E9", "teams": ["T9"]}}, True),
        ({"team_id": "T9", "enterprise_user": {}}, True),
    ],
)
def test_a_colleague_of_a_sister_workspace_is_not_external(
    slack: SlackStub, watch: FakeMonotonic, user: dict[str, Any], external: bool
) -> None:
    """On an Enterprise Grid: the company counts, or that they are in our workspace, too. A partner's grid does not."""
    workspace = SlackWorkspace(
        repeatable_client("xoxb-1", slack.url), team_id="T1", enterprise_id="E1", monotonic=watch
    )
    slack.will("users.info", Answer({"user": user}))
    person = workspace.person("U1")
    assert person.is_external is external
    assert ("T2" in person.team_ids or "E1" in person.team_ids) is not external


def test_who_is_asked_for_afresh_is_looked_up_again(slack: SlackStub, workspace: SlackWorkspace) -> None:
    """Whoever became a guest a second ago is one; and what was learnt so is remembered for the others."""
    slack.will("users.info", Answer({"user": {"team_id": "T1"}}), Answer({"user": {"team_id": "T1", "deleted": True}}))
    assert not workspace.person("U1").is_deactivated
    assert not workspace.person("U1").is_deactivated
    assert workspace.person("U1", fresh=True).is_deactivated
    assert workspace.person("U1").is_deactivated


def test_people_are_remembered_for_a_minute_and_memberships_never(
    slack: SlackStub, workspace: SlackWorkspace, watch: FakeMonotonic
) -> None:
    """A name may be a minute old; who may approve is asked each time."""
    slack.will("users.info", Answer({"user": {"team_id": "T1"}}))
    slack.will("conversations.members", Answer({"members": ["U1"]}))
    for _ in range(3):
        workspace.person("U1")
        workspace.members("C0OPS")
    assert len(slack.of("users.info")) == 1
    assert len(slack.of("conversations.members")) == 3
    watch.now = CACHE_S + 1
    workspace.person("U1")
    assert len(slack.of("users.info")) == 2


def test_members_come_in_pages_and_groups_by_their_own_name(slack: SlackStub, workspace: SlackWorkspace) -> None:
    """A channel's page by page, a group's at once."""
    slack.will(
        "conversations.members",
        Answer({"members": ["U1"], "response_metadata": {"next_cursor": "abc"}}),
        Answer({"members": ["U2"], "response_metadata": {"next_cursor": ""}}),
    )
    slack.will("usergroups.users.list", Answer({"users": ["U3"]}))
    assert workspace.members("C0OPS") == {"U1", "U2"}
    assert workspace.members("S0ONCALL") == {"U3"}


@pytest.mark.parametrize(
    ("channel", "private"),
    [
        ({"is_private": True}, True),
        ({"is_private": False}, False),
        ({}, False),
        ({"is_private": True, "is_ext_shared": True}, False),
    ],
)
def test_only_a_channel_of_our_own_is_private(
    slack: SlackStub, workspace: SlackWorkspace, channel: dict[str, Any], private: bool
) -> None:
    """Shared with a partner is not private; unsaid is not private."""
    slack.will("conversations.info", Answer({"channel": channel}))
    assert workspace.channel("C0OPS").is_private is private


def test_an_archived_channel_is_told_from_one_in_use(slack: SlackStub, workspace: SlackWorkspace) -> None:
    """Nothing can be posted there."""
    slack.will("conversations.info", Answer({"channel": {"is_archived": True}}), Answer({"channel": {}}))
    assert workspace.channel("C0HELP").is_archived
    assert not workspace.channel("C0HELP").is_archived


def test_privacy_is_asked_every_time(slack: SlackStub, workspace: SlackWorkspace) -> None:
    """It is the last gate before a post."""
    slack.will("conversations.info", Answer({"channel": {"is_private": True}}), Answer({"channel": {}}))
    assert workspace.channel("C0OPS").is_private
    assert not workspace.channel("C0OPS").is_private


def test_a_thread_is_read_to_its_end_without_tombstones(slack: SlackStub, workspace: SlackWorkspace) -> None:
    """A deleted parent is no message, whatever Slack leaves in its place."""
    tombstone = {"ts": "1.1", "user": "USLACKBOT", "subtype": "tombstone", "text": "This message was deleted."}
    slack.will(
        "conversations.replies",
        Answer({"messages": [tombstone], "has_more": True, "response_metadata": {"next_cursor": "abc"}}),
        Answer({"messages": [{"ts": "2.2", "user": "U1", "text": "hi", "edited": {"user": "U1"}}, {"bot_id": "B1"}]}),
    )
    [message] = workspace.thread("C1", "1.1")
    assert (message.message_id, message.sender_id, message.edited, message.is_bot) == ("2.2", "U1", True, False)


def test_a_thread_that_is_gone_is_empty_and_any_other_refusal_an_error(
    slack: SlackStub, workspace: SlackWorkspace
) -> None:
    """Gone is an answer, unknown is not."""
    slack.will("conversations.replies", refusal("thread_not_found"))
    assert list(workspace.thread("C1", "1.1")) == []
    slack.will("conversations.replies", refusal("missing_scope"))
    with pytest.raises(ProviderError, match="missing_scope"):
        workspace.thread("C1", "1.1")


@pytest.mark.parametrize(
    ("user", "block_id", "mark"),
    [
        ("U0BOT", "triage_reply:0011:2233", "triage_reply:0011:2233"),
        ("U0BOT", "triage_card:T1.C1.1.2", None),
        ("U0BOT", 7, None),
        ("U9", "triage_reply:0011:2233", None),
    ],
)
def test_only_our_own_replies_carry_a_mark(
    slack: SlackStub, workspace: SlackWorkspace, user: str, block_id: object, mark: str | None
) -> None:
    """Whoever copies a block id has not posted a reply of ours."""
    message = {"ts": "2.0", "user": user, "bot_id": "B1", "text": "5", "blocks": [{"block_id": block_id}]}
    slack.will("conversations.replies", Answer({"messages": [message]}))
    [read] = workspace.thread("C1", "1.0")
    assert read.reply_mark == mark


@each_row(
    "file, is_long",
    [
        ({"mode": "snippet", "mimetype": "text/plain", "preview": "a", "preview_is_truncated": True}, True),
        ({"mode": "snippet", "mimetype": "text/plain", "preview": "a", "preview_is_truncated": False}, False),
        ({"mode": "snippet", "mimetype": "text/x-python", "preview": "a", "lines_more": 12}, True),
        ({"mode": "snippet", "mimetype": "text/x-python", "preview": "a", "lines_more": 0}, False),
        ({"mode": "hosted", "mimetype": "application/json", "preview": "{", "lines_more": 3}, True),
        ({"mode": "hosted", "mimetype": "text/csv"}, True),
        ({"mode": "hosted", "mimetype": "image/png"}, False),
        ({"mode": "hosted", "mimetype": "application/pdf"}, False),
        ({"mode": "tombstone"}, False),
        ({"id": None, "mimetype": "text/plain"}, False),
    ],
)
def test_a_text_file_that_is_longer_than_its_preview_is_named(file: dict[str, Any], is_long: bool) -> None:
    """What its message shows of it is the beginning, or nothing."""
    with slack_stub() as slack:
        message = {"ts": "1.1", "user": "U1", "text": "see", "files": [{"id": "F1", **file}, "no file"]}
        slack.will("conversations.replies", Answer({"messages": [message]}))
        found = SlackWorkspace(repeatable_client("xoxb-1", slack.url), team_id="T1").thread("C1", "1.1")
    assert found[0].long_files == (("F1",) if is_long else ())


def test_a_name_is_read_by_another_process_and_written_once() -> None:
    """The bot learns it again every minute."""
    documents = MemoryDocuments()
    book = NameBook(documents)
    for _ in range(3):
        book.learn("U0ANA", "ana")
        book.learn("C0HELP", "help")
    names = NameBook(documents).names()
    assert names.text("<@U0ANA|x> asked <@U0BEN> in <#C0HELP>") == "@ana asked U0BEN in #help"
    stored = documents.get(PEOPLE, PEOPLE)
    assert stored is not None
    assert stored.version == 2


def test_a_name_with_half_a_character_can_be_stored(slack: SlackStub, workspace: SlackWorkspace) -> None:
    """Names become part of state and journals."""
    slack.will("users.info", Answer({"user": {"team_id": "T1", "profile": {"display_name": "ann \ud83d"}}}))
    assert workspace.person("U1").name.encode() == b"ann ?"
