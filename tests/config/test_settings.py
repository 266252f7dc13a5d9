"""Settings: what is wrong is found at once, named by its key, and secrets stay hidden."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest

from bot.composition.investigators import stall_limit_s, uses_models
from bot.config.environment import read_environment, require_signing_secret, require_tokens
from bot.config.home import find_config
from bot.config.model_settings import PriceSettings
from bot.config.settings import Settings, load_classifier, load_settings
from bot.domain.hours import ActiveHours
from bot.errors import ConfigError
from bot.intake.classifier.classification import Rules
from tests.tables import each_row

ROOT = Path(__file__).parents[2]
MINIMAL = "codebase: shop\nops_channel: C0OPS\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a codebase in it."""
    (tmp_path / "shop").mkdir()
    return tmp_path


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "triage.yml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def problems(folder: Path, text: str | bytes) -> list[str]:
    """Return what is wrong with a config."""
    with pytest.raises(ConfigError) as caught:
        load_settings(write(folder, text))
    return list(caught.value.problems)


def test_a_minimal_config_takes_every_default(folder: Path) -> None:
    """Two keys are enough."""
    settings = load_settings(write(folder, MINIMAL))
    assert settings.ops_channel == "C0OPS"
    assert settings.approvers is None
    assert settings.watched_chats == ()
    assert settings.watcher.mentions_anywhere is True
    assert settings.watcher.allow_external is False
    assert settings.investigator.max_rounds == 2
    assert settings.max_concurrent_sessions == 2


def test_a_relative_codebase_is_meant_from_the_config(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the bot was started from does not matter."""
    monkeypatch.chdir("/")
    assert load_settings(write(folder, MINIMAL)).codebase == (folder / "shop").resolve()


def test_a_home_relative_codebase_is_expanded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` means the home of whoever runs the bot."""
    monkeypatch.setenv("HOME", str(folder))
    assert load_settings(write(folder, MINIMAL.replace("shop", "~/shop"))).codebase == (folder / "shop").resolve()


def test_all_problems_are_found_at_once_and_each_names_its_key(folder: Path) -> None:
    """Whoever sets the bot up corrects the file once, not seven times."""
    found = problems(
        folder,
        """
codebase: nowhere
ops_channel: triage-ops
watched_chats:
  - {chat_id: C0HELP}
  - {chat_id: "#help"}
approvers: [U0ANN, ann]
investigator: {max_rounds: 7, hard_cap_runtime_min: 0}
watcher: {allow_externals: true}
max_concurrent_sessions: lots
shiny: 1
""",
    )
    keys = [problem.split(":")[0] for problem in found]
    assert sorted(keys) == sorted(
        [
            "codebase",
            "ops_channel",
            "watched_chats.1.chat_id",
            "approvers.1",
            "investigator.max_rounds",
            "investigator.hard_cap_runtime_min",
            "watcher.allow_externals",
            "max_concurrent_sessions",
            "shiny",
        ]
    )


@each_row(
    "written, tool",
    [
        ("[B1, A2]", ""),
        ("{A2: Grafana}", "grafana"),
        ("{U3: x, A2: new-relic}", "new-relic"),
        ("[B1]", None),
        ("[]", None),
    ],
)
def test_alert_bots_are_listed_with_or_without_their_tools(tmp_path: Path, written: str, tool: str | None) -> None:
    """By any id of the sender."""
    (tmp_path / "shop").mkdir()
    settings = load_settings(write(tmp_path, f"{MINIMAL}watcher: {{allow_bots: {written}}}"))
    assert settings.watcher.tool_of({"A2", "U9"}) == tool


@each_row(
    "written, problem",
    [
        ("{A2: two words}", "watcher.allow_bots.A2: 'two words' is no tool's name such as grafana"),
        ("{A2: [grafana]}", "watcher.allow_bots.A2: \"['grafana']\" is no tool's name such as grafana"),
        ("[[B1]]", "watcher.allow_bots: must be a list of ids, such as [B0123ALERTS], or {B0123ALERTS: grafana}"),
        (
            "7",
            "watcher.allow_bots: must be a list of ids, such as [B0123ALERTS], or {B0123ALERTS: grafana}",
        ),
    ],
)
def test_the_name_of_a_tool_is_one_word(tmp_path: Path, written: str, problem: str) -> None:
    """The problem names the key."""
    (tmp_path / "shop").mkdir()
    assert problems(tmp_path, f"{MINIMAL}watcher: {{allow_bots: {written}}}") == [f"{problem} (line 3)"]


@each_row(
    "line, hint",
    [
        ("ops_chanel: C0OPS", "ops_chanel: unknown key; did you mean ops_channel?"),
        ("watcher: {allow_bot: [B1]}", "watcher.allow_bot: unknown key; did you mean allow_bots?"),
        ("watched_chats: [{chat_id: C0A, nam: x}]", "watched_chats.0.nam: unknown key; did you mean name?"),
        (
            "investigator: {zzz: 1}",
            "investigator.zzz: unknown key; known here: model, max_rounds, hard_cap_runtime_min, stall_s",
        ),
    ],
)
def test_an_unknown_key_is_met_with_the_nearest_known_one(folder: Path, line: str, hint: str) -> None:
    """A slip of the pen is named with what was probably meant, at every depth."""
    assert f"{hint} (line 3)" in problems(folder, f"{MINIMAL}{line}\n")


@each_row(
    "line, words",
    [
        ("codebase: missing", "not a folder"),
        ("codebase: triage.yml", "not a folder"),
        ("codebase: ''", "codebase: is empty"),
        ("codebase: 5", "codebase: must be a path, such as ~/src/shop"),
        ("codebase: null", "codebase: must be a path, such as ~/src/shop"),
        ("codebase: ~nosuchuser/x", "codebase: '~nosuchuser/x' cannot be looked up; give the path of a git checkout"),
        ('codebase: "a\\0b"', "cannot be looked up; give the path of a git checkout"),
        (f"codebase: {'a' * 300}", "cannot be looked up; give the path of a git checkout"),
        ("ops_channel: ops", "no channel id"),
        ("ops_channel: U0ANN", "no channel id"),
        ("ops_channel: 5", "no channel id"),
        ("approvers: ann", "approvers: must be a list, such as [first, second] (it is 'ann')"),
        ("approvers: [C0OPS]", "no user or user-group id"),
        ("approvers: [5]", "no user or user-group id"),
        ("team_language: english", "team_language: must be two small letters, such as en (it is 'english')"),
        ("investigator: {model: 'a b'}", "investigator.model: 'a b' is no model id"),
        ("watched_chats: [C0HELP]", "watched_chats.0: must hold keys and values; see triage.example.yml"),
        ("watched_chats: [{chat_id: C0HELP, name: 5}]", "watched_chats.0.name: must be a text"),
        ("watcher: {allow_external: perhaps}", "watcher.allow_external: must be true or false"),
        ("watcher: {allow_external: [1]}", "watcher.allow_external: must be true or false"),
        ("classifier: {languages: [en, xx]}", "classifier.languages.1: "),
        ("classifier: {question_keywords: ['']}", "classifier.question_keywords.0: is empty"),
        ("classifier: {ack_patterns: ['^']}", "classifier.ack_patterns.0: is empty"),
        ("classifier: {ack_patterns: [ok, '(ok']}", "classifier.ack_patterns.1: '(ok' is not a regular expression"),
        (
            "classifier: {ack_patterns: ['ok{2}{3}']}",
            "classifier.ack_patterns.0: 'ok{2}{3}' is not a regular expression",
        ),
        ("classifier: {ack_patterns: ['ok (?i)']}", "classifier.ack_patterns.0: 'ok (?i)' is not a regular expression"),
        ("escalation: {time_limit_min: 0}", "escalation.time_limit_min: must be over 0 (it is '0')"),
        ("escalation: {command: claude -p}", "escalation.command: must be a list, such as [first, second]"),
        ("investigator: {max_rounds: 3}", "investigator.max_rounds: must be at most 2 (it is '3')"),
        ("investigator: {max_rounds: 1.5}", "investigator.max_rounds: must be a whole number"),
        ("investigator: {hard_cap_runtime_min: -1}", "investigator.hard_cap_runtime_min: must be over 0 (it is '-1')"),
        ("investigator: {hard_cap_runtime_min: soon}", "investigator.hard_cap_runtime_min: must be a number"),
        ("max_concurrent_sessions: 0", "max_concurrent_sessions: must be at least 1"),
        ("max_concurrent_sessions: lots", "max_concurrent_sessions: must be a whole number (it is 'lots')"),
        ("watcher: [1]", "watcher: must hold keys and values"),
        ("1: x", "1: "),
    ],
)
def test_a_bad_value_is_refused_under_its_key(folder: Path, line: str, words: str) -> None:
    """What the value should look like is said, and a traceback never."""
    key = line.partition(":")[0]
    base = "".join(f"{kept}\n" for kept in MINIMAL.splitlines() if not kept.startswith(f"{key}:"))
    found = problems(folder, f"{base}{line}\n")
    assert len(found) == 1
    assert words in found[0]


@each_row("pattern", ["(?i)roger", "(?P<who>sam|ana) did", "ok)|(?:fine", "a{99999999999999}", "(?=ok)"])
def test_an_ack_pattern_must_stand_beside_others(folder: Path, pattern: str) -> None:
    """The rules join all patterns into one: what compiles alone only, or joined only, is refused under its key."""
    found = problems(folder, f"ops_chanel: C0OPS\nclassifier: {{ack_patterns: [ok, '{pattern}']}}\n{MINIMAL}")
    assert [problem.split(": ")[0] for problem in found] == ["classifier.ack_patterns.1", "ops_chanel"]
    assert "is not a regular expression the rules can use" in found[0]


def test_a_pattern_the_settings_let_pass_suits_the_rules(folder: Path) -> None:
    """What is accepted at load compiles at start."""
    patterns = ["^roger", "(over|out)$", "ok"]
    classifier = load_settings(
        write(folder, f"{MINIMAL}classifier: {json.dumps({'ack_patterns': patterns})}\n")
    ).classifier
    assert Rules(**classifier.model_dump()).ack_patterns == tuple(patterns)


@each_row("line", ["team_language: {0}", "ops_channel: {0}", "{0}: 1", "codebase: {0}", "approvers: [{0}]"])
def test_a_token_in_the_wrong_place_is_not_repeated(folder: Path, line: str) -> None:
    """The problem is named by its key; the value, pasted one line off, stays out of the terminal and the log."""
    token = "xoxb-" + "123456789012-abcdefABCDEF"
    key = line.partition(":")[0]
    base = "".join(f"{kept}\n" for kept in MINIMAL.splitlines() if not kept.startswith(f"{key}:"))
    assert "abcdefABCDEF" not in "".join(problems(folder, base + line.format(token)))


def test_missing_keys_are_named(folder: Path) -> None:
    """An empty file lacks what is required, and nothing else is wrong with it."""
    expected = [f"{key}: is required; see triage.example.yml" for key in ("ops_channel", "codebase")]
    assert problems(folder, "") == expected
    assert problems(folder, "{}") == expected


BOMB = "\n".join(
    ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]" for n in range(1, 12)]
)


@each_row(
    "text, words",
    [
        ("codebase: [", "not valid YAML at line"),
        ("a: b: c", "not valid YAML at line 1, column 5"),
        ("- codebase", "must hold keys and values"),
        ("just text", "must hold keys and values"),
        (b"codebase: \xff\xfe", "it is not UTF-8 text; save it as UTF-8"),
        ("codebase: \x00", "not valid YAML at line 1, column 11: a character that no text may hold"),
        (
            "a: 1\nb: é\x07",
            "not valid YAML at line 2, column 5: a character that no text may hold stands there (U+0007)",
        ),
        (
            "codebase: .\nops_channel: C1\ncodebase: ..",
            "at line 3, column 1: the key 'codebase' stood at line 1 already",
        ),
        (
            "budget:\n  daily_usd: 1\n  daily_usd: 99",
            "at line 3, column 3: the key 'daily_usd' stood at line 2 already",
        ),
        ("mcp_servers:\n  a: {command: x}\n  'a': {command: y}", "at line 3, column 3: the key 'a' stood at line 2"),
        ("a: &a {b: 1}\nc:\n  <<: *a", "at line 3, column 3: merge keys (<<) are not read"),
        ("a: &a [1, *a]", "at line 1, column 4: an alias stands inside what it stands for"),
        (BOMB, "at line 1, column 10: with its aliases written out this has over"),
        (
            "codebase: 2026-13-01",
            "not valid YAML at line 1, column 11: '2026-13-01' is read as a number or a date",
        ),
        ("[" * 100_000, "it is nested too deeply"),
        ("max_concurrent_sessions: " + "9" * 5_000, "not valid YAML at line 1, column 26"),
        ("? [a]\n: 1", "a key is a word, not a list or a block"),
        ("codebase: !!python/object/apply:os.system ['true']", "not valid YAML at line 1"),
    ],
)
def test_what_is_no_yaml_is_refused_with_its_place(folder: Path, text: str | bytes, words: str) -> None:
    """Line and column where the parser knows them; a YAML tag runs nothing."""
    found = problems(folder, text)
    assert len(found) == 1
    assert words in found[0]


def test_a_config_that_cannot_be_read_is_a_config_error(folder: Path) -> None:
    """A folder in its place, or nothing at all, is said with its path."""
    with pytest.raises(ConfigError, match="is no file; `mv "):
        load_settings(folder)
    with pytest.raises(ConfigError, match="cannot read"):
        load_settings(folder / "absent.yml")


def test_an_empty_list_of_approvers_stays_empty(folder: Path) -> None:
    """Nobody is not the same as not said."""
    assert load_settings(write(folder, f"{MINIMAL}approvers: []\n")).approvers == ()


def test_a_token_in_the_config_is_refused_without_being_repeated(folder: Path) -> None:
    """A secret pasted into the wrong file does not travel into logs."""
    found = problems(folder, f"{MINIMAL}slack_bot_token: xoxb-not-for-print\n")
    assert found[0].startswith("slack_bot_token: unknown key")
    assert "not-for-print" not in "".join(found)


def test_only_the_classifiers_block_can_be_read(folder: Path) -> None:
    """A pipe needs no tokens, no codebase and no other key to be right."""
    block = load_classifier(write(folder, "classifier: {question_keywords: [wat]}\nwhatever: 1\n"))
    assert block.question_keywords == ("wat",)
    assert load_classifier(write(folder, "")).question_keywords == ()
    assert load_classifier(write(folder, "classifier:\n")).question_keywords == ()
    with pytest.raises(ConfigError, match=r"^classifier\.question_keyword: unknown key; did you mean"):
        load_classifier(write(folder, "classifier: {question_keyword: [wat]}\n"))
    for block in ("[1]", "5", "0"):
        with pytest.raises(ConfigError, match=r"^classifier: must hold keys and values"):
            load_classifier(write(folder, f"classifier: {block}\n"))


def test_a_config_is_looked_for_here_and_then_at_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one given wins, then ./triage.yml, then the data directory; none is an error that says where to put one."""
    home, here = folder / "home", folder / "here"
    home.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    with pytest.raises(ConfigError, match=r"triage\.example\.yml"):
        find_config(None, home)
    at_home = write(home, MINIMAL)
    assert find_config(None, home) == at_home
    write(here, MINIMAL)
    assert find_config(None, home) == Path("triage.yml")
    assert find_config(at_home, home) == at_home
    with pytest.raises(ConfigError, match=r"gone\.yml"):
        find_config(folder / "gone.yml", home)


def test_a_folder_in_the_place_of_the_config_is_named_with_what_to_type(folder: Path) -> None:
    """It is not called missing: `triage init` could not write there."""
    place = folder / "triage.yml"
    place.mkdir()
    with pytest.raises(ConfigError, match=f"{place} is no file; `mv {place} {place}.old`"):
        load_settings(find_config(place, folder))


TOKENS = {"SLACK_BOT_TOKEN": "xoxb-secret-bot", "SLACK_APP_TOKEN": "xapp-secret-app"}


def test_secrets_are_hidden_wherever_the_environment_is_printed() -> None:
    """repr, str and a dump of the environment show no token; only the bot that needs one gets it."""
    environment = read_environment(TOKENS)
    for shown in (repr(environment), str(environment), str(environment.model_dump()), environment.model_dump_json()):
        assert "secret" not in shown.replace("SecretStr", "").replace("slack_signing_secret", "")
    assert require_tokens(environment) == ("xoxb-secret-bot", "xapp-secret-app")
    assert environment.secrets() == frozenset(TOKENS.values())


def test_the_environment_wins_over_the_dotenv_file(tmp_path: Path) -> None:
    """A variable set for one run overrides the file; what it leaves out comes from the file."""
    dotenv = tmp_path / ".env"
    dotenv.write_text("SLACK_BOT_TOKEN=xoxb-from-file\nSLACK_APP_TOKEN='xapp-from-file'\nTRIAGE_HOME=/from/file\n")
    environment = read_environment({"SLACK_BOT_TOKEN": "xoxb-from-env"}, dotenv=dotenv)
    assert require_tokens(environment) == ("xoxb-from-env", "xapp-from-file")
    assert environment.home == Path("/from/file")


def test_without_anything_the_environment_has_defaults() -> None:
    """Home is ~/.triage and Slack is Slack."""
    environment = read_environment({}, dotenv=Path("/nowhere/.env"))
    assert environment.home == Path("~/.triage").expanduser()
    assert environment.slack_api_url == "https://slack.com/api/"
    assert environment.secrets() == frozenset()


def test_an_api_url_gets_its_last_slash() -> None:
    """slack_sdk glues method names to it."""
    assert read_environment({"SLACK_API_URL": "http://localhost:1/api"}).slack_api_url == "http://localhost:1/api/"


@each_row(
    "environ, count",
    [
        ({}, 2),
        ({"SLACK_BOT_TOKEN": "", "SLACK_APP_TOKEN": "xapp-secret"}, 1),
        ({"SLACK_BOT_TOKEN": TOKENS["SLACK_APP_TOKEN"], "SLACK_APP_TOKEN": TOKENS["SLACK_BOT_TOKEN"]}, 2),
    ],
)
def test_missing_and_swapped_tokens_are_named_and_never_shown(environ: dict[str, str], count: int) -> None:
    """Both problems at once, each with where to copy the token from."""
    with pytest.raises(ConfigError) as caught:
        require_tokens(read_environment(environ))
    assert len(caught.value.problems) == count
    assert "secret" not in str(caught.value)


HTTP = {"SLACK_BOT_TOKEN": "xoxb-secret-bot", "SLACK_SIGNING_SECRET": "0123456789secret0123456789abcdef"}


def test_http_mode_needs_the_signing_secret_and_no_app_token() -> None:
    """And hides it as it does the tokens."""
    environment = read_environment(HTTP)
    assert require_signing_secret(environment) == tuple(HTTP.values())
    assert "secret0" not in repr(environment)
    assert environment.secrets() == frozenset(HTTP.values())


@each_row("secret", ["", "short-secret", "xapp-1-secret-secret-secret", "secret secret secret", "é" * 32])
def test_what_is_no_signing_secret_is_refused_and_never_shown(secret: str) -> None:
    """An empty or guessable one would make everybody Slack."""
    with pytest.raises(ConfigError, match="App Credentials") as caught:
        require_signing_secret(read_environment({**HTTP, "SLACK_SIGNING_SECRET": secret}))
    assert len(caught.value.problems) == 1
    assert "secret secret" not in str(caught.value)
    assert "short-secret" not in str(caught.value)


def test_both_secrets_of_http_mode_are_asked_for_at_once() -> None:
    """One start is enough to learn what is missing."""
    with pytest.raises(ConfigError) as caught:
        require_signing_secret(read_environment({}))
    assert [problem.split(" ")[0] for problem in caught.value.problems] == ["SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET"]


@each_row(
    "slack, words",
    [
        ("{mode: webhook}", "slack.mode"),
        ("{http: {port: 70000}}", "slack.http: is not an address to listen on; it looks like 127.0.0.1:3000"),
        ("{http: {host: ''}}", "slack.http: is not an address"),
        ("{http: {hots: x}}", "slack.http: is not an address"),
        ("{http: '3000'}", "slack.http: is not an address"),
        ("{htp: '0:1'}", "did you mean http?"),
    ],
)
def test_what_slack_settings_cannot_be_is_named(folder: Path, slack: str, words: str) -> None:
    """Each with its key."""
    with pytest.raises(ConfigError, match=re.escape(words)):
        load_settings(write(folder, f"{MINIMAL}\nslack: {slack}\n"))


def test_models_and_limits_have_defaults_that_are_safe(folder: Path) -> None:
    """Limits are on unless somebody switches them off."""
    settings = load_settings(write(folder, MINIMAL))
    assert (settings.investigator.model, settings.validator.model) == ("claude-opus-5-5", None)
    assert (settings.budget.per_thread_usd, settings.budget.per_day_usd) == (5.0, 100.0)
    assert (settings.provider, settings.base_url, settings.mcp_servers) == ("anthropic", None, {})


def test_every_fault_of_a_model_setting_is_named_by_its_key(folder: Path) -> None:
    """Through mappings, too, where any name is a key."""
    found = problems(
        folder,
        MINIMAL
        + """
investigator: {model: "x y", stall_s: 0.5, stals: 1}
validator: {max_rounds: 9}
provider: azure
base_url: ftp://x
pricing: {claude-x: {input: 1}}
budget: {per_thread_usd: -1, per_day: 1}
mcp_servers: {logs: {urll: https://x.io}, Bad: {command: [x]}}
""",
    )
    assert {problem.split(": ")[0] for problem in found} == {
        "investigator.model",
        "investigator.stall_s",
        "investigator.stals",
        "validator.max_rounds",
        "provider",
        "base_url",
        "pricing.claude-x.output",
        "pricing.claude-x.cache_read",
        "budget.per_thread_usd",
        "budget.per_day",
        "mcp_servers.logs.urll",
        "mcp_servers.Bad",
    }
    said = "\n".join(found)
    assert "mcp_servers.logs.urll: unknown key; did you mean url? (line " in said
    assert "budget.per_day: unknown key; did you mean per_day_usd? (line " in said


@each_row(
    "line, variable, limit",
    [
        ("", None, 60.0),
        ("", "5", 5.0),
        ("investigator: {max_rounds: 1}", "5", 5.0),
        ("investigator: {stall_s: 30}", "5", 30.0),
        ("investigator: {stall_s: null}", "5", None),
        ("investigator: {stall_s: null}", None, None),
    ],
)
def test_the_stall_limit_is_the_configs_then_the_environments(
    folder: Path, line: str, variable: str | None, limit: float | None
) -> None:
    """null switches it off; absent falls back to TRIAGE_STALL_S, then to a minute."""
    environment = read_environment({"TRIAGE_STALL_S": variable} if variable else {})
    assert stall_limit_s(load_settings(write(folder, f"{MINIMAL}{line}\n")), environment) == limit


@each_row("value", ["0", "601", "soon", "nan"])
def test_a_stall_limit_of_the_environment_is_checked(value: str) -> None:
    """And named."""
    with pytest.raises(ConfigError, match="TRIAGE_STALL_S: "):
        read_environment({"TRIAGE_STALL_S": value})


def test_a_key_or_a_cloud_is_what_turns_models_on(folder: Path) -> None:
    """Without either the bot stays offline."""
    minimal, cloud = MINIMAL, f"{MINIMAL}provider: bedrock\n"
    assert not uses_models(load_settings(write(folder, minimal)), read_environment({"ANTHROPIC_API_KEY": ""}))
    assert uses_models(load_settings(write(folder, minimal)), read_environment({"ANTHROPIC_API_KEY": "k"}))
    assert uses_models(load_settings(write(folder, cloud)), read_environment({}))


def test_every_key_is_a_secret_and_hidden(folder: Path) -> None:
    """Also in what the environment keeps for MCP servers."""
    keys = {"ANTHROPIC_API_KEY": "hidden-key-1", "ANTHROPIC_FOUNDRY_API_KEY": "hidden-key-2", "LOKI": "hidden-key-3"}
    environment = read_environment({**keys, "AWS_BEARER_TOKEN_BEDROCK": "short"})
    assert environment.secrets() == {"hidden-key-1", "hidden-key-2"}
    assert environment.variables["LOKI"] == "hidden-key-3"
    for shown in (repr(environment), str(environment.model_dump()), environment.model_dump_json()):
        assert "hidden-key" not in shown


@each_row(
    "tail, words",
    [
        ("your-token", "is still the example's"),
        ("secret\nxoxb", "is no whole "),
        ("secret\n", "is no whole "),
        ("secret  # mine", "is no whole "),
        ("secret…", "is no whole "),
        ("", "is no whole "),
    ],
)
def test_what_is_no_whole_token_is_refused_and_never_shown(tail: str, words: str) -> None:
    """The placeholder, a line end, a comment or an ellipsis would travel into a header and come back in a traceback."""
    with pytest.raises(ConfigError) as caught:
        require_tokens(read_environment({"SLACK_BOT_TOKEN": f"xoxb-{tail}", "SLACK_APP_TOKEN": f"xapp-{tail}"}))
    assert [problem.split(" ")[0] for problem in caught.value.problems] == ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"]
    assert all(words in problem and "into .env" in problem for problem in caught.value.problems)
    assert "secret" not in str(caught.value)


def test_the_example_copied_as_it_is_names_both_tokens_as_not_replaced() -> None:
    """`cp .env.example .env` and nothing more: two problems, in plain ASCII, also as systemd reads the file."""
    example = ROOT / ".env.example"
    example.read_bytes().decode("ascii")
    with pytest.raises(ConfigError) as caught:
        require_tokens(read_environment({}, dotenv=example))
    assert [problem.split(";")[0] for problem in caught.value.problems] == [
        "SLACK_BOT_TOKEN is still the example's",
        "SLACK_APP_TOKEN is still the example's",
    ]
    assert not any("#" in line for line in example.read_text().splitlines() if not line.startswith("#"))


@each_row(
    "url",
    [
        "notaurl",
        "file:///etc/",
        "https://",
        "https:///api/",
        "ftp://slack.com/api/",
        "//slack.com/api/",
        "http://localhost:99999/api/",
        "http://[::1/api/",
        "https://slack.com/api/?token=secret",
        "https://me:secret@slack.com/api/",
        "https://slack.com/a b/",
    ],
)
def test_only_an_address_of_a_web_server_is_one_for_slack(url: str) -> None:
    """Anything else would fail deep inside Slack's client, or read a file; what is wrong is not repeated."""
    with pytest.raises(ConfigError, match="SLACK_API_URL: is not the address of a web server") as caught:
        read_environment({"SLACK_API_URL": url})
    assert "secret" not in str(caught.value)


@each_row("url", ["https://slack.com/api/", "http://127.0.0.1:8080/api/", "http://[::1]:80/", "http://my_proxy/"])
def test_an_address_of_a_web_server_is_taken(url: str) -> None:
    """Another host, a port and an address in brackets are all right."""
    assert read_environment({"SLACK_API_URL": url}).slack_api_url == url


def test_a_home_that_leads_nowhere_is_named_with_the_other_problems() -> None:
    """An unknown user's home is a slip of the pen, not a traceback; every problem is told at once."""
    with pytest.raises(ConfigError) as caught:
        read_environment({"TRIAGE_HOME": "~nosuchuser", "SLACK_API_URL": "notaurl"})
    assert [problem.split(":")[0] for problem in caught.value.problems] == ["TRIAGE_HOME", "SLACK_API_URL"]
    with pytest.raises(ConfigError, match="TRIAGE_HOME"):
        read_environment({"TRIAGE_HOME": "a\0b"})


def test_a_dotenv_that_is_no_text_is_refused_by_its_name(tmp_path: Path) -> None:
    """A file in another encoding, or too long a name for one."""
    dotenv = tmp_path / ".env"
    dotenv.write_bytes("SLACK_BOT_TOKEN=xoxb-señor".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"\.env is not UTF-8 text"):
        read_environment({}, dotenv=dotenv)
    with pytest.raises(ConfigError, match="cannot read"):
        read_environment({}, dotenv=tmp_path / ("x" * 300))


def priced(folder: Path, written: str) -> PriceSettings:
    text = f"codebase: {folder}\nops_channel: C0123OPS\npricing: {{house-model: {{{written}}}}}\n"
    return load_settings(write(folder, text)).pricing["house-model"]


def test_the_bound_of_a_long_prompt_is_read_as_earlier_versions_wrote_it(folder: Path) -> None:
    """`long_above` stood beside `long`; it is now `long.above`, which wins where both are written."""
    prices, long = "input: 1, output: 5, cache_read: 0.1", "input: 2, output: 8, cache_read: 0.2"
    for written, above in (
        (f"{prices}, long: {{{long}, above: 7}}", 7),
        (f"{prices}, long_above: 8, long: {{{long}}}", 8),
        (f"{prices}, long_above: 8, long: {{{long}, above: 7}}", 7),
        (f"{prices}, long: {{{long}}}", 100_000),
    ):
        price = priced(folder, written)
        assert price.long is not None
        assert price.long.above == above
    assert priced(folder, f"{prices}, long_above: 8").long is None


def test_how_long_a_card_may_wait_is_written_as_people_do_or_switched_off(folder: Path) -> None:
    """Defaults that suit a working day and a week-end; null is for ever; anything else is named by its key."""
    settings = load_settings(write(folder, MINIMAL))
    assert (settings.remind_after, settings.expire_after) == (timedelta(hours=4), timedelta(days=3))
    assert settings.keep_runs_for == timedelta(days=90)
    settings = load_settings(write(folder, MINIMAL + "remind_after: 1h30m\nexpire_after: null\n"))
    assert (settings.remind_after, settings.expire_after) == (timedelta(minutes=90), None)
    wrong = problems(folder, MINIMAL + "remind_after: soon\nexpire_after: 4\nacknowledge: perhaps\n")
    assert [problem.partition(":")[0] for problem in wrong] == ["remind_after", "expire_after", "acknowledge"]
    assert wrong[0].endswith('or "2d" (line 3)')


def test_when_a_question_rings_again_and_who_is_told_next(folder: Path) -> None:
    """The same keys and default as for findings; ids are checked as everywhere."""
    settings = load_settings(write(folder, MINIMAL))
    assert (settings.pages.again_after, settings.pages.then) == (timedelta(minutes=15), None)
    assert settings.pages.again_after == settings.heartbeat.again_after
    settings = load_settings(write(folder, MINIMAL + "pages: {again_after: null, then: S0123ONCALL}\n"))
    assert (settings.pages.again_after, settings.pages.then) == (None, "S0123ONCALL")
    wrong = problems(folder, MINIMAL + "pages: {again_after: soon, then: '@boss', also: 1}\n")
    assert [problem.partition(":")[0] for problem in wrong] == ["pages.again_after", "pages.then", "pages.also"]


def _with(folder: Path, line: str) -> Settings:
    return load_settings(write(folder, f"codebase: shop\nops_channel: C0OPS\n{line}\n"))


def test_working_hours_are_read_with_their_days_and_their_zone(folder: Path) -> None:
    """Monday to Friday unless other days are named; without the block there are none."""
    assert _with(folder, "").working_hours is None
    wanted = _with(folder, 'working_hours: {start: "09:00", end: "17:30", timezone: Europe/Berlin}').working_hours
    assert wanted is not None
    assert wanted.in_zone(wanted.timezone) == ActiveHours("09:00", "17:30", "Europe/Berlin", frozenset(range(5)))
    wanted = _with(folder, 'working_hours: {start: "09:00", end: "17:30", days: [sun, tue]}').working_hours
    assert wanted is not None
    assert wanted.in_zone("UTC").days == {1, 6}


@each_row(
    "block, said",
    [
        ('{start: "9:00", end: "17:00"}', "working_hours.start: is '9:00'"),
        ('{start: "09:00", end: "09:00"}', "working_hours: start and end are both"),
        ('{start: "09:00", end: "17:00", timezone: user}', "working_hours.timezone: 'user' is unknown"),
        ('{start: "09:00", end: "17:00", days: []}', "working_hours.days"),
        ('{start: "09:00", end: "17:00", days: [monday]}', "working_hours.days"),
        ('{start: "09:00"}', "working_hours: start and end belong together; give both, or none for any hour (line 3)"),
    ],
)
def test_working_hours_that_are_none_are_refused_by_their_key(folder: Path, block: str, said: str) -> None:
    found = problems(folder, f"codebase: shop\nops_channel: C0OPS\nworking_hours: {block}\n")
    assert found[0].startswith(said)


def test_a_home_that_the_system_refuses_is_named() -> None:
    """As one of another user is; a name that no disk takes is refused to root, too."""
    with pytest.raises(ConfigError, match=r"cannot read .*run this as the user who runs triage"):
        find_config(Path("x" * 300), Path("home"))
