"""Credentials are found by kind, never by value, and never survive redaction."""

from __future__ import annotations

import sysconfig
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.domain.secrets import OWN_SECRET, find_secrets, redact
from tests.domain.planted_secrets import Planted, foreign, planted
from tests.tables import each_row

# Assembled here, so that no scanner takes this file for a leak.
SAMPLES = {
    "Slack token": "xoxb" + "-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
    "Slack webhook": "https://hooks.slack.com/" + "services/T00000000/B00000000/aB3dE5gH7jK9mN1pQ3sT5vX7",
    "Anthropic key": "sk-ant" + "-api03-" + "aB3_" * 20,
    "OpenAI key": "sk-proj" + "-" + "aB3d" * 12,
    "GitHub token": "ghp" + "_" + "aB3d" * 9,
    "GitLab token": "glpat" + "-aB3dE5gH7jK9mN1pQ3sT",
    "AWS access key": "AKIA" + "IOSFODNN7EXAMPLR",
    "Google key": "AIza" + "aB3d5" * 7,
    "Stripe key": "sk_live" + "_" + "aB3d" * 6,
    "Telegram token": "123456789" + ":AA" + "aB3d-" * 7,
    "package registry token": "npm" + "_" + "aB3dE5" * 6,
    "SendGrid key": "SG" + "." + "aB3d" * 5 + "." + "aB3d" * 10,
    "JSON web token": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "private key": "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIEowIBAAKCAQEA7\n-----END RSA PRIVATE KEY-----",
}
ASSIGNED = [
    ('password = "hG7$kq2Lz9pW"', "password"),
    ("DB_PASSWORD: Tr0ub4dor&3xQ", "password"),
    ("'api_key': 'f3A9c07b21De88aa'", "key"),
    ("export AUTH_TOKEN=f3A9c07b21De88aa", "token"),
    ('{"client_secret": "f3A9c07b21De88aa"}', "secret"),
    ("Authorization: Bearer f3A9c07b21De88aaQ9zX", "token"),
    ("postgres://bob:S3cr3tPw@db/orders", "password"),
    ("aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzq83kLmN0p", "AWS secret key"),
]
HARMLESS = [
    "token = settings.slack_token",
    'password = os.environ["DB_PASSWORD"]',
    'password = "${DB_PASSWORD}"',
    "postgres://user:pass@localhost:5432/foobar",
    "secret = base64.b64encode(value)",
    "commit 031c4fe1b2c3d4e5f60718293a4b5c6d7e8f9012",
    "if key.startswith('-----BEGIN PRIVATE KEY-----'):",
    "token: the Slack token, see docs/install.md",
    "set the password to at least 12 characters",
    "user bob, pass log4j",
    "the password for staging is in the vault",
    "the key: user-profile",
]


@each_row("kind, value", SAMPLES.items())
def test_every_issuer_s_credential_is_found_and_blacked_out(kind: str, value: str) -> None:
    """A credential in the middle of prose is named by kind and gone after redaction."""
    text = f"use {value} for that"
    assert kind in find_secrets(text)
    assert value[8:] not in redact(text)
    assert redact(text).endswith(" for that")


@each_row("text, kind", ASSIGNED)
def test_an_assigned_value_that_looks_random_is_a_secret(text: str, kind: str) -> None:
    """A value is judged by the name it is assigned to where its own shape says nothing."""
    assert find_secrets(text) == [kind]


@each_row("text", HARMLESS)
def test_names_placeholders_and_calls_are_no_secrets(text: str) -> None:
    """Ordinary code and documentation are left alone."""
    assert find_secrets(text) == []
    assert redact(text) == text


def test_characters_that_nobody_sees_hide_no_credential() -> None:
    """They are left out of what is shown, and the credential stands there whole."""
    assert find_secrets(f"ghp\u200b_{'a1B2' * 9}") == ["GitHub token"]
    assert find_secrets("own-se\u2060cret-value", known=("own-secret-value",)) == ["secret of this process"]
    assert find_secrets(f"x\u200bghp_{'a1B2' * 9}") == ["GitHub token"]
    for unseen in ("\u200b", "\u200d", "\u200b\u200c\u2060"):
        shown = redact(f"use ghp_a1{unseen}B2{'a1B2' * 8} here")
        assert shown == "use [redacted: GitHub token] here"
    assert redact("a\u200b b") == "a\u200b b"


def test_the_process_s_own_secrets_are_found_wherever_they_stand() -> None:
    """A known value needs no pattern; short ones are ignored, since they would match everywhere."""
    assert find_secrets("log: Kxqwertz!", known=["Kxqwertz", "log"]) == [OWN_SECRET]
    assert redact("aKxqwertzb", known=["Kxqwertz"]) == f"a[redacted: {OWN_SECRET}]b"


def test_a_secret_inside_a_secret_is_blacked_out_once() -> None:
    """Overlapping finds leave no part of the longer one behind."""
    value = SAMPLES["GitHub token"]
    assert redact(f'token = "{value}"', known=[value[10:30]]).count("[redacted") == 1
    assert value[30:] not in redact(f'token = "{value}"', known=[value[10:30]])


def test_a_private_key_without_its_end_is_blacked_out_to_the_end() -> None:
    """A truncated key is still a key."""
    assert redact("x\n-----BEGIN PRIVATE" + " KEY-----\nMIIEowIBAAKCAQEA7zzz") == "x\n[redacted: private key]"


NAMES = [
    "password",
    "token",
    "secret=",
    "api_key:",
    "]",
    "'",
    ":",
    "=",
    " ",
    "001234567A",
    "bearer ",
]


@given(st.lists(st.sampled_from([*SAMPLES.values(), *(text for text, _ in ASSIGNED), *NAMES]), max_size=7).map("".join))
@example(SAMPLES["package registry token"] * 2)
@example("token=DB_PASSWORD: Tr0ub4dor&3xQ")
def test_credentials_without_a_space_between_them_are_found_at_once(text: str) -> None:
    """One pass leaves nothing for a second one: no credential hides in the end of another or behind a name."""
    once = redact(text)
    assert redact(once) == once


PACKAGES = (
    "_pytest", "anthropic", "hypothesis", "mcp", "mypy", "pip", "pydantic", "requests", "slack_sdk",
)  # fmt: skip


def test_ordinary_source_code_hardly_ever_looks_like_a_secret() -> None:
    """At most one line in ten thousand of nine popular packages is taken for a secret; every thirtieth file is read."""
    lines, found = _redacted_lines(30)
    assert found <= lines / 10_000


@pytest.mark.full
def test_next_to_no_source_code_looks_like_a_secret() -> None:
    """One line in ten thousand, of every third file."""
    lines, found = _redacted_lines(3)
    assert found <= lines / 10_000


def _redacted_lines(nth: int) -> tuple[int, int]:
    """Return how many lines every nth file of the packages has, and how much of them redaction takes for secrets."""
    root = Path(sysconfig.get_path("purelib"))
    files = [path for package in PACKAGES for path in sorted((root / package).rglob("*.py"))]
    texts = [path.read_text("utf-8", "replace") for path in islice(files, 0, None, nth)]
    lines = sum(text.count("\n") for text in texts)
    assert lines > 10_000
    return lines, sum(redact(text).count("[redacted: ") for text in texts)


def test_nearly_every_planted_kind_is_blacked_out() -> None:
    """Of more than 300 kinds of credential at least 98 in 100 leave nothing behind that could be used."""
    kinds = planted()
    shown = [one.kind for one in kinds if _leaks(one)]
    assert len(kinds) >= 300
    assert len(shown) <= len(kinds) / 50, shown


@each_row("frame", ["{}", "> {}", "look:\n```\n{}\n```\nthanks", "{} <- is that right?", "\u65e5\u672c\n{}\n\u65e5"])
def test_what_stands_around_a_credential_does_not_hide_it(frame: str) -> None:
    """A quotation, a code block, a question behind it and other alphabets leave it as visible."""
    kinds = planted()
    shown = [one.kind for one in kinds if _leaks(one._replace(text=frame.format(one.text)))]
    assert len(shown) <= len(kinds) / 20, shown


def test_a_lone_surrogate_neither_fails_nor_hides_a_credential() -> None:
    """Text that UTF-8 cannot hold is read like any other, and what is no credential stays as it was."""
    assert redact(f"\ud800 {SAMPLES['GitHub token']} \udfff") == "\ud800 [redacted: GitHub token] \udfff"


def test_nearly_every_kind_of_other_lists_is_blacked_out() -> None:
    """Kinds that were drawn up without a look at the patterns fare no worse than those written beside them."""
    kinds = foreign()
    shown = [one.kind for one in kinds if _leaks(one)]
    assert len(kinds) >= 100
    assert len(shown) <= len(kinds) / 20, shown


@each_row(
    "text, is_secret",
    [
        ("kind: Secret\ndata:\n  url: cG9zdGdyZXM6Ly8=\n", True),
        ("kind: Secret\nstringData:\n  tls.key: 'sailing at dawn'\n", True),
        ("kind: ConfigMap\ndata:\n  url: cG9zdGdyZXM6Ly8=\n", False),
        ("kind: Secret\nmetadata:\n  name: shop-database\n", False),
        ("kind: Secret\n---\nkind: ConfigMap\ndata:\n  url: cG9zdGdyZXM6Ly8=\n", False),
    ],
)
def test_the_values_of_a_manifest_of_secrets_are_secrets(text: str, *, is_secret: bool) -> None:
    """Kubernetes' own kind says so, whatever the values are called."""
    assert bool(find_secrets(text)) is is_secret


def _leaks(one: Planted) -> bool:
    """Whether the value, or eight characters in a row of the inner part of a long one, survive."""
    clean = redact(one.text)
    parts = range(8, len(one.value) - 8, 4) if len(one.value) >= 16 else ()
    return one.value in clean or any(one.value[at : at + 8] in clean for at in parts)


TABLES = {
    "Markdown": "| service | user | Password |\n|---|---|---|\n| db | app | `Winter2025!x` |\n| mail | bot | {} |\n",
    "a database's": "+----+------+----------+\n| id | name | password |\n+----+------+----------+\n|  1 | bob | {} |",
    "psql's": " id | password\n----+---------\n  1 | {}\n(1 row)",
    "drawn lines": "│ id │ password │\n├────┼──────────┤\n│ 1  │ {} │\n",
    "CSV": "id,user,password,role\n1,eve,s3cr3tpw,admin\r\n2,bob,{},admin\r\n",
    "quoted CSV": '"name","password"\n"Bob, Jr.","{}"\n',
    "semicolons": "Benutzer;Passwort\nbob;{}\n",
    "tabs": "user\tpassword\nbob\t{}",
    "columns by blanks": "USER    PASSWORD   NOTE\nbob     {}   new one\n",
    "rows without a last sign": "| user | password |\n|---|---|\n| bob | {}\n",
    "a heading without a last sign": "| user | password\n|---|---\n| bob | {} |\n",
    "a quotation": "> | user | password |\n> |---|---|\n> | bob | {} |\n",
    "unnamed columns": "| | # | **User:** | Password (temporary) |\n|---|---|---|---|\n| x | 1 | bob | {} |\n",
    "indented columns": "    USER    PASSWORD\n    bob     {}\n",
    "CSV whose rows end early": "user,password,note\nbob,{}\n",
    "an insert over lines": "INSERT INTO users\n        (name, password)\nVALUES\n            ('bob', '{}');",
    "an insert of a dump": "INSERT IGNORE INTO users (name, at, password) VALUES ('O\\'Bob', f(1, 2), '{}');",
    "a replacement": "REPLACE INTO users (name, password) VALUES ('bob', '{}');",
    "an insert": "INSERT INTO users (id, name, password) VALUES\n (1, 'Bob, Jr. (it''s he)', '{}'),\n  (2, 'e', NULL);",
}


@each_row("table", TABLES.values())
def test_a_value_below_the_name_of_a_credential_is_blacked_out(table: str) -> None:
    """Each cell of that column, and nothing else of its row."""
    clean = redact(table.format("hunter22"))
    assert "hunter22" not in clean
    assert all(words in clean for words in ("ob", "assw") if words in table)


def test_a_token_s_column_is_judged_as_a_token() -> None:
    """Its values are long and look random."""
    assert find_secrets("name,api_key\nci,f3A9c07b21De88aa\n") == ["key"]
    assert find_secrets("name,api_key\nci,build2\n") == []


@each_row(
    "text",
    [
        "| password | at least 8 characters |\n| token | a word2 of it |\n",
        "| name | type |\n|---|---|\n| password | varchar(64) |\n",
        "    'user', 'password', 'host',\n    'x11', 'utf8', 'w32',\n",
        "def login(user, password, host):\n    return one(a1, b2, c3)\n",
        "| user | password |\n|---|---|\n| bob | changeme |\n\n| a | utf8 |\n",
        "id,password_changed\n1,2026-01-05T10:00\n",
        "INSERT INTO users (id, name) VALUES (1, 'hunter22');",
    ],
)
def test_words_code_and_other_columns_are_none(text: str) -> None:
    """A table ends at a line without its signs, and a list of code has no heading."""
    assert redact(text) == text


def test_what_is_found_never_holds_the_value() -> None:
    """The list of kinds can be shown to anybody."""
    for value in SAMPLES.values():
        assert not any(value[8:20] in kind for kind in find_secrets(value))


@given(before=st.text(max_size=40), after=st.text(max_size=40), kind=st.sampled_from(sorted(SAMPLES)))
@example(before="", after=":001234567A", kind="GitHub token")
@example(before="", after="= f3A9c07b21De88aa", kind="Slack token")
def test_redacting_twice_changes_nothing_more(before: str, after: str, kind: str) -> None:
    """What redaction writes is not taken for a secret itself."""
    once = redact(f"{before} {SAMPLES[kind]} {after}")
    assert redact(once) == once


def test_a_name_in_brackets_is_one_with_its_quotes() -> None:
    """`os.environ["TOKEN"] = …` assigns; the mark of an earlier redaction does not."""
    assert find_secrets('env["API_TOKEN"] = "f3A9c07b21De88aa"') == ["token"]
    assert find_secrets("[redacted: Slack token] = f3A9c07b21De88aa") == []
