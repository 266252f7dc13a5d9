"""Teams in triage.yml: what they inherit, and what is refused, all at once."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.specialist import Allowance
from bot.composition.investigators import thread_allowance
from bot.config.settings import Settings, load_settings
from bot.config.team_settings import TeamMatters
from bot.config.written_keys import merged_blocks
from bot.errors import ConfigError
from tests.tables import each_row

PAY = {"ops_channel": "C0PAYOPS", "channels": [{"chat_id": "C0PAY", "name": "payments"}]}
PLAT = {"ops_channel": "C0PLATOPS", "channels": [{"chat_id": "C0HELP"}]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a codebase beside triage.yml."""
    (tmp_path / "shop").mkdir()
    return tmp_path


def load(folder: Path, **config: Any) -> Settings:
    code = {} if "codebases" in config else {"codebase": "shop"}
    (folder / "triage.yml").write_text(yaml.safe_dump({**code, **config}, sort_keys=False))
    return load_settings(folder / "triage.yml")


def problems(folder: Path, **config: Any) -> list[str]:
    with pytest.raises(ConfigError) as refused:
        load(folder, **config)
    return list(refused.value.problems)


def test_one_team_is_several_with_one_name(folder: Path) -> None:
    """The short form is the same thing inside."""
    settings = load(folder, ops_channel="C0OPS", watched_chats=[{"chat_id": "C0HELP"}])
    assert settings.by_team() == {"default": settings}


def test_a_team_inherits_key_by_key(folder: Path) -> None:
    """Inside blocks too; a list replaces a list, and null is a value."""
    settings = load(
        folder,
        team_language="de",
        approvers=["U0ALL"],
        expire_after="2d",
        brief={"morning": "08:30"},
        budget={"per_day_usd": 20},
        teams={
            "payments": {**PAY, "approvers": ["S0PAY"], "budget": {"per_thread_usd": 1}, "expire_after": None},
            "platform": {**PLAT, "team_language": "en", "brief": {"evening": "17:00"}},
        },
    )
    pay, plat = settings.by_team().values()
    assert (pay.team_language, plat.team_language) == ("de", "en")
    assert (pay.approvers, plat.approvers) == (("S0PAY",), ("U0ALL",))
    assert (pay.budget.per_thread_usd, pay.budget.per_day_usd, plat.budget.per_day_usd) == (1, 20, 20)
    assert (pay.expire_after, plat.expire_after) == (None, timedelta(days=2))
    assert (pay.brief.evening, plat.brief.morning, plat.brief.evening) == (None, "08:30", "17:00")
    assert [chat.chat_id for chat in pay.watched_chats] == ["C0PAY"]
    assert not pay.teams


def test_what_nobody_wrote_counts_as_unwritten_for_a_team(folder: Path) -> None:
    """As without teams."""
    settings = load(folder, teams={"pay": PAY, "plat": {**PLAT, "budget": {"per_thread_usd": 2}}})
    pay, plat = settings.by_team().values()
    assert pay.model_fields_set & TeamMatters.model_fields.keys() == {"ops_channel"}
    assert thread_allowance(pay) == Allowance(usd=5, whose="this thread")
    assert thread_allowance(plat) == Allowance(usd=2, whose="this thread")


def test_a_session_belongs_to_one_team(folder: Path) -> None:
    """With one team it need not say so."""
    shop = {"cwd": "shop", "owner": "U0ANN"}
    alone = load(folder, teams={"payments": PAY}, sessions={"shop": shop})
    assert list(alone.by_team()["payments"].sessions) == ["shop"]
    both = load(folder, teams={"payments": PAY, "platform": PLAT}, sessions={"shop": {**shop, "team": "platform"}})
    assert [list(team.sessions) for team in both.by_team().values()] == [[], ["shop"]]
    assert problems(folder, teams={"payments": PAY, "platform": PLAT}, sessions={"shop": shop}) == [
        "sessions.shop.team: is required with several teams; one of payments, platform (line 13)"
    ]
    assert problems(folder, teams={"payments": PAY}, sessions={"shop": {**shop, "team": "pay"}}) == [
        "sessions.shop.team: there is no team 'pay'; one of payments (line 12)"
    ]


def test_all_that_is_wrong_between_teams_is_said_at_once(folder: Path) -> None:
    """Each with its key and what would be right."""
    found = problems(
        folder,
        watched_chats=[{"chat_id": "C0X"}],
        teams={
            "payments": {**PAY, "approvers": ["U0ANN"]},
            "platform": {"ops_channel": "C0PAYOPS", "channels": [{"chat_id": "C0PAY"}, {"chat_id": "C0PAYOPS"}]},
        },
    )
    assert [problem.partition(":")[0] for problem in found] == [
        "watched_chats",
        "teams.platform.channels",
        "teams.platform.channels",
        "teams.platform.ops_channel",
    ]
    assert "C0PAY is watched by payments too" in found[1]
    assert "C0PAYOPS is an ops channel" in found[2]
    assert "is payments's too, with other approvers" in found[3]


def test_two_teams_with_the_same_approvers_may_share_an_ops_channel(folder: Path) -> None:
    """Also one that both inherit."""
    teams = {"payments": {"channels": PAY["channels"]}, "platform": {"channels": PLAT["channels"]}}
    assert {one.ops_channel for one in load(folder, ops_channel="C0OPS", teams=teams).by_team().values()} == {"C0OPS"}


@each_row(
    "team, words",
    [
        ({}, "teams.payments.ops_channel: is required"),
        ({**PAY, "ops_channel": "pay"}, "teams.payments.ops_channel: 'pay' is no channel id"),
        ({**PAY, "approvrs": []}, "teams.payments.approvrs: unknown key; did you mean approvers?"),
        ({**PAY, "channels": [{"name": "x"}]}, "teams.payments.channels.0.chat_id: is required"),
        ({**PAY, "share": ["all"]}, "teams.payments.share.0: input should be 'notes' or 'checks'"),
        (None, "teams.payments: must hold keys and values"),
        ([], "teams.payments: must hold keys and values"),
    ],
)
def test_a_wrong_team_is_named_once(folder: Path, team: object, words: str) -> None:
    """At the key that was written, not at the top that takes its ops channel from it."""
    [problem] = problems(folder, teams={"payments": team})
    assert problem.startswith(words)


def test_what_all_inherit_is_wrong_once(folder: Path) -> None:
    """At the top, where it stands."""
    assert problems(folder, team_language="deu", teams={"payments": PAY, "platform": PLAT}) == [
        "team_language: must be two small letters, such as en (it is 'deu') (line 2)"
    ]


@each_row("name", ["default", "Pay", "pay ments", "../x", "", "a" * 41, "-a"])
def test_a_name_that_is_no_folder_is_refused(folder: Path, name: str) -> None:
    """And the one that the short form has."""
    [problem] = problems(folder, teams={name: PAY})
    assert "is no name for a team" in problem


@each_row("teams", [[], "x", {"payments": "x"}, {1: PAY}, {"payments": {**PAY, "channels": "C0PAY"}}])
def test_a_wrong_shape_is_refused(folder: Path, teams: object) -> None:
    """In words, never with a traceback."""
    assert problems(folder, teams=teams)


def test_a_session_may_name_a_codebase_instead_of_its_folder(folder: Path) -> None:
    """One that triage clones has no files to run checks on."""
    codebases = {"shop": {"path": "shop"}, "infra": {"url": "https://git.example.com/a/infra.git"}}
    text = {"codebases": codebases, "ops_channel": "C0OPS"}
    (folder / "triage.yml").write_text(yaml.safe_dump({**text, "sessions": {"s": {"codebase": "shop"}}}))
    settings = load_settings(folder / "triage.yml")
    assert settings.sessions["s"].cwd == (folder / "shop").resolve()
    for session, words in (
        ({"codebase": "infra"}, "sessions.s.codebase: triage's own clone of infra has no files"),
        ({"codebase": "api"}, "sessions.s.codebase: there is no codebase 'api'; one of infra, shop"),
        ({"codebase": "shop", "cwd": "shop"}, "sessions.s.codebase: stands beside `cwd`"),
    ):
        (folder / "triage.yml").write_text(yaml.safe_dump({**text, "sessions": {"s": session}}))
        with pytest.raises(ConfigError) as refused:
            load_settings(folder / "triage.yml")
        assert any(problem.startswith(words) for problem in refused.value.problems)


def test_a_session_is_about_a_codebase_that_its_team_sees(folder: Path) -> None:
    """Its findings stand in the team's ops channel; one that nobody has is told once, as what it is."""
    (folder / "infra").mkdir()
    codebases = {"codebases": {"shop": {"path": "shop"}, "infra": {"path": "infra"}}}
    teams = {"payments": {**PAY, "codebases": ["shop"]}, "platform": PLAT}

    def told(team: str, codebase: str) -> list[str]:
        sessions = {"s": {"team": team, "codebase": codebase}}
        return [one for one in problems(folder, **codebases, teams=teams, sessions=sessions) if "sessions" in one]

    assert told("payments", "infra") == [
        "sessions.s.codebase: payments does not see infra; add it to teams.payments.codebases (line 21)"
    ]
    assert not any("does not see" in one for one in told("payments", "api"))
    assert load(folder, **codebases, teams=teams, sessions={"s": {"team": "platform", "codebase": "infra"}}).sessions


@each_row("session", [{"team": ["payments"]}, {"team": {}, "cwd": "shop"}, {"codebase": ["shop"]}])
def test_a_session_whose_team_or_codebase_is_no_name_is_refused(folder: Path, session: dict[str, Any]) -> None:
    """In words, never with a traceback."""
    assert problems(folder, teams={"payments": PAY, "platform": PLAT}, sessions={"s": session})


BLOCKS = st.recursive(st.integers(), lambda inner: st.dictionaries(st.sampled_from("abc"), inner), max_leaves=8)
MAPPINGS = st.dictionaries(st.sampled_from("abc"), BLOCKS)


@given(MAPPINGS, MAPPINGS)
def test_merging_keeps_every_key_and_own_values_win(shared: dict[str, Any], own: dict[str, Any]) -> None:
    """Nothing over a block leaves it as it is."""
    assert merged_blocks(shared, {}) == merged_blocks({}, shared) == merged_blocks(shared, shared) == shared
    merged = merged_blocks(shared, own)
    assert set(merged) == set(shared) | set(own)
    assert all(merged[key] == value for key, value in own.items() if not isinstance(value, dict))
