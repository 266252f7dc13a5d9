"""Credentials below a heading that names them are found, in whatever rows the table is written; words are not."""

from __future__ import annotations

from bot.domain.secrets import find_secrets, redact
from tests.tables import each_row

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
