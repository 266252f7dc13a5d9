"""Settings of heartbeats: a session's block over the shared one, and every problem named by its key."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.config.settings import Settings, load_settings
from bot.errors import ConfigError
from tests.tables import each_row

ROOT = Path(__file__).parents[2]
MINIMAL = "codebase: shop\nops_channel: C0OPS\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two checkouts in it."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "api").mkdir()
    return tmp_path


def load(folder: Path, text: str) -> Settings:
    path = folder / "triage.yml"
    path.write_text(MINIMAL + text)
    return load_settings(path)


def problems(folder: Path, text: str) -> list[str]:
    """Return what is wrong with a config."""
    with pytest.raises(ConfigError) as caught:
        load(folder, text)
    return list(caught.value.problems)


def test_without_sessions_nothing_is_watched(folder: Path) -> None:
    """And the shared block has every default of the contract."""
    settings = load(folder, "")
    assert settings.sessions == {}
    beat = settings.heartbeat
    assert beat.every == timedelta(minutes=30)
    assert (beat.active_hours.start, beat.active_hours.end, beat.active_hours.timezone) == ("08:00", "22:00", "user")
    assert (beat.ack_token, beat.ack_max_chars, beat.dedupe_window) == ("HEARTBEAT_OK", 300, timedelta(hours=24))
    assert (beat.heartbeat_model, beat.include_reasoning, beat.daily_budget_usd) == ("", False, None)
    assert (beat.deliver.mode, beat.deliver.channel, beat.deliver.to) == ("last", None, None)
    shown = beat.visibility
    assert (shown.show_ok, shown.show_alerts, shown.use_indicator) == (False, True, True)


def test_a_session_inherits_key_by_key_inside_blocks_too(folder: Path) -> None:
    """What its own block leaves out is the shared block's, then the default."""
    settings = load(
        folder,
        """
heartbeat:
  every: 1h
  heartbeat_model: cheap-model
  active_hours: {start: "07:00", timezone: Europe/Berlin}
  deliver: {mode: explicit, channel: slack, to: C0ALERTS}
  visibility: {show_ok: true}
  commands: [git status, git fetch]
  daily_budget_usd: 2
sessions:
  shop:
    cwd: shop
    owner: U0ANN
    heartbeat: {active_hours: {end: "24:00"}, deliver: {to: U0BOB}, commands: [ls], daily_budget_usd: null}
  api: {cwd: api, owner: U0ANN, name: The API, channels: [C0API], master: true, heartbeat: {every: 15m}}
""",
    )
    shop, api = settings.sessions["shop"].heartbeat, settings.sessions["api"].heartbeat
    assert (shop.every, api.every) == (timedelta(hours=1), timedelta(minutes=15))
    hours = shop.active_hours
    assert (hours.start, hours.end, hours.timezone) == ("07:00", "24:00", "Europe/Berlin")
    assert api.active_hours.end == "22:00"
    assert (shop.deliver.mode, shop.deliver.channel, shop.deliver.to) == ("explicit", "slack", "U0BOB")
    assert api.deliver.to == "C0ALERTS"
    assert shop.visibility.show_ok is True
    assert (shop.commands, len(api.commands)) == ((("ls",),), 2)
    assert (shop.daily_budget_usd, api.daily_budget_usd) == (None, 2)
    assert settings.sessions["shop"].cwd == (folder / "shop").resolve()
    assert settings.sessions["api"].master is True


def test_an_empty_model_in_a_session_switches_the_first_look_off(folder: Path) -> None:
    """Though the shared block names one."""
    settings = load(
        folder,
        'heartbeat: {heartbeat_model: cheap-model}\nsessions: {shop: {cwd: shop, heartbeat: {heartbeat_model: ""}},'
        " api: {cwd: api}}",
    )
    assert settings.sessions["shop"].heartbeat.heartbeat_model == ""
    assert settings.sessions["api"].heartbeat.heartbeat_model == "cheap-model"


@each_row(
    "block, says",
    [
        ("{evry: 5m}", "evry: unknown key; did you mean every?"),
        ("{active_hours: {strat: x}}", "active_hours.strat: unknown key; did you mean start?"),
        ("{every: 30}", 'every: 30 is not an interval; write for example "45s", "30m", "1h30m" or "2d"'),
        ("{every: 1.5h}", "every: '1.5h' is not an interval"),
        ("{every: 0m}", "every: '0m' is no time at all"),
        ("{every: 999d}", "every: must be at most 366d"),
        ("{dedupe_window: yes}", "dedupe_window: true is not an interval"),
        ('{active_hours: {start: "8:00"}}', "active_hours.start: is '8:00'; write a time in quotes with two digits"),
        ("{active_hours: {end: 22:00}}", "active_hours.end: is the number 1320, which is how YAML reads 22:00 without"),
        ('{active_hours: {end: "24:30"}}', "active_hours.end: is '24:30'; write a time in quotes"),
        ('{active_hours: {start: "24:00"}}', 'active_hours: start is "24:00"; a window that begins at midnight'),
        ("{active_hours: {timezone: Mars/Base}}", "active_hours.timezone: 'Mars/Base' is unknown; write an IANA name"),
        ("{active_hours: {timezone: 5}}", "active_hours.timezone: 5 is unknown"),
        ('{active_hours: {start: "22:00"}}', 'active_hours: start and end are both "22:00"; for the whole day'),
        ("{active_hours: all day}", "active_hours: must hold keys and values"),
        ("{ack_token: all is well}", "ack_token: 'all is well' is no single word"),
        ("{ack_max_chars: -1}", "ack_max_chars: must be at least 0"),
        ("{heartbeat_model: 'a b'}", "heartbeat_model: 'a b' is no model id"),
        ("{model: ''}", "model: '' is no model id"),
        ("{deliver: {mode: explicit}}", "deliver: channel and to are needed where mode is explicit"),
        ("{deliver: {mode: explicit, channel: slack}}", "deliver: channel and to are needed where mode is explicit"),
        ("{deliver: {mode: shout}}", "deliver.mode: "),
        (
            "{deliver: {mode: explicit, channel: slack, to: '#ops'}}",
            "deliver: to: '#ops' is no Slack user or channel",
        ),
        ("{deliver: {mode: explicit, channel: webhook, to: 'ftp://x'}}", "deliver: to: 'ftp://x' is no web address"),
        (
            "{deliver: {mode: explicit, channel: webhook, to: 'https://a:b@x/'}}",
            "is no web address without credentials",
        ),
        ("{deliver: {mode: explicit, channel: telegram, to: me}}", "deliver: to: 'me' is no Telegram chat"),
        ("{visibility: {show_ok: perhaps}}", "visibility.show_ok: must be true or false"),
        ("{commands: ['git log | head']}", "commands.0: 'git log | head' holds '|', which only a shell understands"),
        ("{commands: git status}", "commands: must be a list"),
        ("{daily_budget_usd: 0}", "daily_budget_usd: must be over 0"),
    ],
)
def test_a_bad_value_is_named_by_its_key_in_either_block(folder: Path, block: str, says: str) -> None:
    """The shared block's once, however many sessions inherit it; a session's own by its own key."""
    shared = problems(folder, f"heartbeat: {block}\nsessions: {{shop: {{cwd: shop}}, api: {{cwd: api}}}}\n")
    assert [problem for problem in shared if says in problem] == shared[:1], shared
    assert not [problem for problem in shared if problem.startswith("sessions")]
    own = problems(folder, f"sessions: {{shop: {{cwd: shop, heartbeat: {block}}}, api: {{cwd: api}}}}\n")
    assert own[0].startswith("sessions.shop.heartbeat.")
    assert says in own[0]


@each_row("cwd", ["nowhere", "triage.yml"])
def test_a_session_whose_folder_is_missing_does_not_stop_the_others(folder: Path, cwd: str) -> None:
    """The file is read; the session alone is refused at each of its beats, and its owner is told once."""
    assert set(load(folder, f"sessions: {{shop: {{cwd: {cwd}}}, api: {{cwd: api}}}}\n").sessions) == {"shop", "api"}


@each_row(
    "block, says",
    [
        ("{shop: {}}", "sessions.shop.cwd: is required; see triage.example.yml"),
        ("{shop: {cwd: shop, owner: ann}}", "sessions.shop.owner: 'ann' is no user or user-group id"),
        ("{shop: {cwd: shop, owner: {turns: [U01], every: 7d}}}", "sessions.shop.owner: "),
        ("{shop: {cwd: shop, owner: {user: U01}}}", "sessions.shop.owner: "),
        ("{shop: {cwd: shop, heartbeat: {severity: loud}}}", "sessions.shop.heartbeat.severity: "),
        (
            "{shop: {cwd: shop, heartbeat: {then: ann}}}",
            "sessions.shop.heartbeat.then: 'ann' is no user, user-group or channel id",
        ),
        ("{shop: {cwd: shop, heartbeat: {again_after: soon}}}", "sessions.shop.heartbeat.again_after: "),
        ("{shop: {cwd: shop, owner: C0OPS}}", "sessions.shop.owner: 'C0OPS' is no user or user-group id"),
        ("{shop: {cwd: shop, ownr: U0ANN}}", "sessions.shop.ownr: unknown key; did you mean owner?"),
        ("{Shop 1: {cwd: shop}}", "sessions.Shop 1: 'Shop 1' is not a session id"),
        ("{5: {cwd: shop}}", "sessions.5: must be a text"),
        ("[shop]", "sessions: "),
        ("{shop: shop}", "sessions.shop: must hold keys and values"),
        (
            "{shop: {cwd: shop, master: true}, api: {cwd: api, master: true}}",
            "sessions.api.master: only one session of a team may be the master, and shop is",
        ),
        ("{shop: {cwd: shop}, api: {cwd: ./shop/../shop}}", "sessions.api.cwd: is shop's too"),
    ],
)
def test_a_bad_session_is_named_by_its_key(folder: Path, block: str, says: str) -> None:
    """Each problem says what would be right."""
    assert [problem for problem in problems(folder, f"sessions: {block}\n") if says in problem]


def test_all_problems_are_found_at_once(folder: Path) -> None:
    """Those inside a session and those between sessions."""
    found = problems(
        folder,
        """
heartbeat: {every: often}
sessions:
  shop: {cwd: shop, owner: ann, master: true, heartbeat: {active_hours: {start: "9:00"}}}
  api: {cwd: shop, master: true, heartbeat: {evry: 1h}}
""",
    )
    assert [problem.split(": ")[0] for problem in found] == [
        "heartbeat.every",
        "sessions.shop.owner",
        "sessions.shop.heartbeat.active_hours.start",
        "sessions.api.heartbeat.evry",
        "sessions.api.master",
        "sessions.api.cwd",
    ]


@each_row(
    "blocks, again_after, then",
    [
        ("", timedelta(minutes=15), None),
        ("pages: {again_after: 5m, then: U0BOSS}", timedelta(minutes=5), "U0BOSS"),
        ("pages: {again_after: 5m, then: U0BOSS}\nheartbeat: {again_after: 1h}", timedelta(hours=1), "U0BOSS"),
        ("pages: {then: U0BOSS}\nheartbeat: {then: null, again_after: null}", None, None),
    ],
)
def test_findings_ring_as_questions_do_where_nothing_else_is_said(
    folder: Path, blocks: str, again_after: timedelta | None, then: str | None
) -> None:
    settings = load(folder, f"{blocks}\nsessions: {{shop: {{cwd: shop}}}}")
    for beat in (settings.heartbeat, settings.sessions["shop"].heartbeat):
        assert (beat.again_after, beat.then) == (again_after, then)


def test_findings_of_a_teams_session_ring_as_its_questions_do(folder: Path) -> None:
    settings = load(
        folder,
        """
pages: {again_after: 5m}
teams:
  pay: {ops_channel: C0PAY, pages: {then: U0BOSS}}
  web: {ops_channel: C0WEB}
sessions:
  shop: {cwd: shop, team: pay}
  api: {cwd: api, team: web, heartbeat: {again_after: 2h}}
""",
    )
    shop, api = (one.heartbeat for one in settings.sessions.values())
    assert (shop.again_after, shop.then) == (timedelta(minutes=5), "U0BOSS")
    assert (api.again_after, api.then) == (timedelta(hours=2), None)
