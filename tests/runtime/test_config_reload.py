"""A changed triage.yml is taken over under way: its heartbeat parts, or nothing at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.config.settings import Settings, load_settings
from bot.config.team_settings import WatchedChat
from bot.errors import ConfigError, StoreError
from bot.heartbeat.session_registry import SessionRegistry
from bot.ports.collections import OVERRIDES
from bot.runtime.config_reload import TeamReload
from bot.teams import ConfigReload
from tests.fakes import in_memory
from tests.tables import each_row

TELEGRAM = "heartbeat: {deliver: {mode: explicit, channel: telegram, to: 5}}"


class Listener:
    """What the watcher and the backfill are told to watch."""

    def __init__(self) -> None:
        self.watched: list[list[str]] = []
        self.full = False

    def watch(self, chats: Sequence[WatchedChat]) -> None:
        if self.full:
            raise StoreError("cannot write gaps.json: No space left on device; free space")
        self.watched.append([chat.chat_id for chat in chats])


class RecordedTeam:
    """A team whose ops channel is a list."""

    def __init__(self, reload: TeamReload | TakenOver | None, said: list[str]) -> None:
        self.reload: Any = reload
        self.said = said

    def say(self, text: str) -> None:
        self.said.append(text)


class RecordedTeams:
    """The teams that run, and what became of them; `refused` is raised where a new one is opened."""

    def __init__(self, **teams: RecordedTeam) -> None:
        self.teams = dict(teams)
        self.refused: Exception | None = None

    def by_name(self) -> dict[str, RecordedTeam]:
        return dict(self.teams)

    def say(self, text: str) -> None:
        for team in self.teams.values():
            team.say(text)

    @contextmanager
    def opened(self, teams: Mapping[str, Settings]) -> Iterator[None]:
        if teams and self.refused:
            raise self.refused
        yield
        self.teams |= {name: RecordedTeam(None, []) for name in teams}

    def remove(self, name: str) -> str:
        del self.teams[name]
        return f"The team {name} is gone."


class RecordedCode:
    """The codebases of the process, by what the last settings named; `refused` is raised where they are opened."""

    def __init__(self) -> None:
        self.open = ["shop"]
        self.refused: Exception | None = None

    @contextmanager
    def reopened(self, settings: Settings) -> Iterator[None]:
        if self.refused:
            raise self.refused
        yield
        self.open = list(settings.all_codebases)


class Bench:
    """A running bot's sessions, its triage.yml, and what it says."""

    def __init__(self, folder: Path) -> None:
        self.config = folder / "triage.yml"
        (folder / "shop").mkdir()
        (folder / "api").mkdir()
        self.write("shop: {cwd: shop}")
        settings = load_settings(self.config)
        self.sessions = SessionRegistry(settings.sessions, in_memory(OVERRIDES))
        self.said: list[str] = []
        self.learned: list[bool] = []
        self.seen: list[list[str]] = []
        self.approvers: list[tuple[str, ...] | None] = []
        self.watcher, self.backfill = Listener(), Listener()
        self.say = self.said.append
        self.team = TeamReload(
            settings,
            self.sessions,
            (self.backfill, self.watcher),
            learn=lambda: self.learned.append(True),
            see=lambda settings: self.seen.append(list(settings.all_codebases)),
            go_by=self.approvers.append,
            unreadable=lambda chat: f"the bot is not in {chat.chat_id}" if chat.chat_id == "C0AWAY" else None,
        )
        self.teams = RecordedTeams(default=RecordedTeam(self.team, self.said))
        self.code = RecordedCode()
        self.reload = ConfigReload(self.teams, self.code)

    def write(self, sessions: str, more: str = "", *, code: str = "codebase: shop") -> None:
        self.config.write_text(f"{code}\nops_channel: C0OPS\nsessions: {{{sessions}}}\n{more}\n")

    def again(self) -> list[str]:
        self.reload(lambda: load_settings(self.config))
        return [session.id for session in self.sessions.all()]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """One session is configured."""
    return Bench(tmp_path)


def test_new_sessions_apply_at_once(bench: Bench) -> None:
    """Those that are gone are gone; the zones of new owners are learned."""
    bench.write("api: {cwd: api}")
    assert bench.again() == ["api"]
    assert bench.said == ["triage.yml was read again; sessions: api."]
    assert bench.learned == [True]


def test_what_else_changed_waits_for_a_restart(bench: Bench) -> None:
    """And each such key is named, until the file is as it was."""
    bench.write("shop: {cwd: shop, heartbeat: {every: 5m}}", "team_language: de\nbudget: {per_day_usd: 3}")
    assert bench.again() == ["shop"]
    assert bench.said.pop().endswith("After a restart only: `budget`, `team_language`.")
    bench.write("shop: {cwd: shop}")
    bench.again()
    assert bench.said == ["triage.yml was read again; sessions: shop."]


@pytest.mark.parametrize(
    ("written", "taken", "said"),
    [
        ("approvers: [U0BEN, S0ONCALL]", ("U0BEN", "S0ONCALL"), "`U0BEN`, `S0ONCALL`"),
        ("approvers: []", (), "none"),
    ],
)
def test_who_may_approve_changes_at_once(bench: Bench, written: str, taken: tuple[str, ...], said: str) -> None:
    """Whoever is taken off the list decides nothing more; back to the file of before, the ops channel decides."""
    bench.write("shop: {cwd: shop}", written)
    bench.again()
    bench.again()
    assert bench.said == [
        f"triage.yml was read again; sessions: shop. `approvers` now: {said}.",
        "triage.yml was read again; sessions: shop.",
    ]
    bench.write("shop: {cwd: shop}")
    bench.again()
    assert bench.said[-1].endswith("`approvers` now: everybody in this channel.")
    assert bench.approvers == [taken, None]


def test_a_session_without_its_folder_is_taken_over_with_the_others(bench: Bench) -> None:
    """It does not beat until the folder is there; that is no reason to refuse the rest."""
    bench.write("shop: {cwd: shop}, api: {cwd: nowhere}")
    assert bench.again() == ["shop", "api"]


def test_a_rota_is_named_when_the_file_is_read_again(bench: Bench) -> None:
    """Everything else is taken over."""
    bench.write("shop: {cwd: shop, owner: {rota: [U0ANN], since: 2026-01-05}}, api: {cwd: api}")
    assert bench.again() == ["shop", "api"]
    assert bench.said[-1].startswith("triage.yml, line 3: sessions.shop.owner.rota was removed: ")


@pytest.mark.parametrize("broken", ["api: {cwd: nowhere, ownr: x}", "shop: ["])
def test_a_bad_file_changes_nothing_and_every_problem_is_told(bench: Bench, broken: str) -> None:
    """The bot goes on as it was."""
    before = bench.sessions.get("shop")
    bench.write(broken)
    assert bench.again() == ["shop"]
    assert bench.sessions.get("shop") == before
    [said] = bench.said
    assert said.startswith("triage.yml was not loaded; the old settings stay in use.")
    if "ownr" in broken:
        assert "sessions.api.ownr: unknown key; did you mean owner?" in said


def test_a_session_whose_alerts_have_no_way_to_go_is_taken_over_with_the_others(bench: Bench) -> None:
    """Its owner is told (session_faults); that is no reason to refuse the rest."""
    bench.write(f"shop: {{cwd: shop, {TELEGRAM}}}, api: {{cwd: api}}")
    assert bench.again() == ["shop", "api"]


def test_a_new_channel_is_watched_at_once_and_a_removed_one_no_more(bench: Bench) -> None:
    """Where the bot is no member of a new one, that is said with what to do."""
    bench.write("shop: {cwd: shop}", "watched_chats: [{chat_id: C0HELP, name: help}, {chat_id: C0AWAY}]")
    bench.again()
    assert bench.backfill.watched == bench.watcher.watched == [["C0HELP", "C0AWAY"]]
    assert "`watched_chats` now: #help, <#C0AWAY>." in bench.said[0]
    assert "the bot is not in C0AWAY: type /invite @triage there" in bench.said[0]
    bench.write("shop: {cwd: shop}", "watched_chats: [{chat_id: C0AWAY}]")
    bench.again()
    assert bench.watcher.watched[-1] == ["C0AWAY"]
    assert bench.said[1].endswith("`watched_chats` now: <#C0AWAY>.")


def test_channels_that_did_not_change_are_left_alone(bench: Bench) -> None:
    """Nothing is opened for them."""
    bench.write("api: {cwd: api}")
    bench.again()
    assert bench.backfill.watched == []


def test_a_disk_that_refuses_changes_nothing_and_is_told(bench: Bench) -> None:
    """Neither channels nor sessions; the next reload does both."""
    bench.write("api: {cwd: api}", "watched_chats: [{chat_id: C0HELP}]")
    bench.backfill.full = True
    assert bench.again() == ["shop"]
    assert bench.watcher.watched == []
    assert "No space left on device" in bench.said[0]
    bench.backfill.full = False
    assert bench.again() == ["api"]
    assert bench.watcher.watched == [["C0HELP"]]


def test_codebases_are_taken_over_and_named(bench: Bench) -> None:
    """The team sees them once they are open; without a change nothing is said of them."""
    bench.write("shop: {cwd: shop}", code="codebases: {shop: {path: shop}, infra: {path: api}}")
    bench.again()
    assert bench.said == ["triage.yml was read again; sessions: shop. `codebases` now: shop, infra."]
    assert (bench.code.open, bench.seen) == (["shop", "infra"], [["shop", "infra"]])
    bench.again()
    assert bench.said[1] == "triage.yml was read again; sessions: shop."
    bench.write("shop: {cwd: shop}")
    bench.again()
    assert bench.said[2].endswith(f"`codebases` now: {bench.config.parent / 'shop'}.")


def test_a_channel_that_picks_other_codebases_is_told_of(bench: Bench) -> None:
    """Alone, without a change of the channels or the codebases themselves."""
    code, chat = "codebases: {shop: {path: shop}, infra: {path: api}}", "watched_chats: [{chat_id: C0HELP, name: help"
    bench.write("shop: {cwd: shop}", f"{chat}}}]", code=code)
    bench.again()
    bench.write("shop: {cwd: shop}", f"{chat}, codebases: [infra]}}]", code=code)
    bench.again()
    assert bench.said[1].endswith("sessions: shop. `watched_chats` now: #help (about infra).")
    bench.write("shop: {cwd: shop}", f"{chat}}}]", code=code)
    bench.again()
    assert bench.said[2].endswith("`watched_chats` now: #help.")


def test_a_codebase_that_cannot_be_opened_changes_nothing(bench: Bench) -> None:
    """Not the sessions either; the ops channel hears which one and why."""
    bench.code.refused = ConfigError("codebase: /srv/api is no git repository")
    bench.write("api: {cwd: api}", code="codebases: {shop: {path: shop}, infra: {path: api}}")
    assert bench.again() == ["shop"]
    assert bench.seen == []
    assert "the old settings stay in use. Fix this:\n- codebase: /srv/api is no git repository" in bench.said[0]


COMPANY = """codebase: shop
teams:
  pay: {ops_channel: C0PAYOPS, channels: [{chat_id: C0PAY}]}
"""
PLATFORM = "  plat: {ops_channel: C0PLATOPS, channels: [{chat_id: C0HELP}]}\n"


@dataclass
class TakenOver:
    """What one team takes over: its settings, by the ops channel they name."""

    ops_channel: str
    taken: dict[str, Settings]
    gaining: set[str]

    def gains(self, settings: Settings) -> bool:
        return settings.ops_channel in self.gaining

    def take_over(self, settings: Settings) -> str:
        self.taken[settings.ops_channel] = settings
        return "sessions: none."


class Company:
    """Two running teams and their triage.yml."""

    def __init__(self, folder: Path) -> None:
        (folder / "shop").mkdir()
        self.config = folder / "triage.yml"
        self.config.write_text(COMPANY + PLATFORM)
        self.taken: dict[str, Settings] = {}
        self.gaining: set[str] = set()
        self.said: dict[str, list[str]] = {"pay": [], "plat": []}
        teams = {
            name: RecordedTeam(TakenOver(f"C0{name.upper()}OPS", self.taken, self.gaining), said)
            for name, said in self.said.items()
        }
        self.teams = RecordedTeams(**teams)
        self._reload = ConfigReload(self.teams, RecordedCode())

    def write(self, text: str) -> None:
        self.config.write_text(text)
        self._reload(lambda: load_settings(self.config))


def test_a_team_that_is_gone_ends_and_the_others_are_told(tmp_path: Path) -> None:
    """The one that is left takes over its own settings."""
    company = Company(tmp_path)
    company.write(COMPANY)
    assert list(company.teams.teams) == ["pay"]
    assert list(company.taken) == ["C0PAYOPS"]
    [said] = company.said["pay"]
    assert said.endswith(" The team plat is gone.")
    company.write(COMPANY + PLATFORM)
    assert list(company.teams.teams) == ["pay", "plat"]
    assert company.said["pay"][1].endswith("Team plat is new.")


def test_a_team_that_cannot_be_opened_changes_nothing(tmp_path: Path) -> None:
    """None is removed, none takes anything over, and all are told why."""
    company = Company(tmp_path)
    company.teams.refused = ConfigError("ops_channel: C0NEW is not private")
    company.write(COMPANY + "  new: {ops_channel: C0NEW}\n")
    assert list(company.teams.teams) == ["pay", "plat"]
    assert company.taken == {}
    assert all("C0NEW is not private" in said for [said] in company.said.values())


def test_a_team_under_another_name_is_refused_with_what_to_type(tmp_path: Path) -> None:
    """Its threads would be closed, and its notes left behind; nothing changes."""
    company = Company(tmp_path)
    company.write(COMPANY + PLATFORM.replace("plat:", "infra:"))
    assert list(company.teams.teams) == ["pay", "plat"]
    assert "`mv teams/plat teams/infra` in the data directory, start triage" in company.said["pay"][0]


@each_row(
    "others",
    [
        "  plat: {ops_channel: C0PLATOPS, channels: [{chat_id: C0HELP}, {chat_id: C0PAYOPS}]}\n",
        PLATFORM + "  new: {ops_channel: C0PAYOPS}\n",
    ],
)
def test_an_ops_channel_that_is_still_in_use_is_nobody_elses(tmp_path: Path, others: str) -> None:
    """Its team has it until a restart, so until then nobody else reads or asks there."""
    company = Company(tmp_path)
    company.write(COMPANY.replace("C0PAYOPS", "C0PAYOPS2") + others)
    assert company.taken == {}
    assert "C0PAYOPS stays the ops channel of pay until a restart; stop triage and start it" in company.said["pay"][0]


def test_two_teams_may_exchange_their_ops_channels_at_a_restart(tmp_path: Path) -> None:
    """Until then each has its own."""
    company = Company(tmp_path)
    both = (COMPANY + PLATFORM).replace("C0PAYOPS", "C0X").replace("C0PLATOPS", "C0PAYOPS").replace("C0X", "C0PLATOPS")
    company.write(both)
    assert all("was read again" in said for [said] in company.said.values())


def test_one_team_does_not_become_several_under_way(tmp_path: Path) -> None:
    """The data of the one team is handed over at a start."""
    company = Company(tmp_path)
    company.write("codebase: shop\nops_channel: C0OPS\n")
    assert list(company.teams.teams) == ["pay", "plat"]
    assert "stop triage and start it" in company.said["pay"][0]


def test_who_gains_a_channel_takes_it_before_the_other_lets_go(tmp_path: Path) -> None:
    """At no moment is it nobody's."""
    company = Company(tmp_path)
    company.gaining.add("C0PLATOPS")
    company.write(COMPANY + PLATFORM)
    assert list(company.taken) == ["C0PLATOPS", "C0PAYOPS"]
