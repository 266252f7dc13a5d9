"""What follows a telling name is blacked out, whatever it looks like, unless it only stands for a value."""

from __future__ import annotations

import random
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.secrets import find_secrets, redact
from tests.tables import each_row

FILES = (
    "DB_HOST=db1\nDB_PASSWORD={}\nDB_PORT=5432",
    'APP_SECRET="{}"',
    "database:\n  password: {}\n  host: db1",
    "auth:\n  clientSecret: '{}'\n",
    "spring:\n  password: |\n    {}\n  other: 1",
    "[mail]\nuser = bob\npassword = {}\n",
    "spring.datasource.password={}",
    'secret_key = "{}"',
    "  db_password = <<EOT\n{}\nEOT\n",
    'variable "db_password" {{\n  type = string\n  default = "{}"\n}}',
    "machine x.example.org login ana password {}",
    "- name: DB_PASSWORD\n  value: {}",
    "Server=db1;Database=shop;User Id=sa;Password={};Encrypt=true",
)
COMMANDS = (
    "export API_TOKEN='{}'",
    "deploy --env prod --password {} --yes",
    "app serve --api-key={}",
    "mysql -h db1 -u root -p{} shop",
    "curl -s -u admin:{} https://x.example.org",
    "curl -u 'admin:{}' https://x.example.org",
    'curl -H "X-Api-Key: {}" https://x',
    "sshpass -p '{}' ssh root@db1",
    "ENV DB_PASSWORD {}",
    "docker run -e MYSQL_ROOT_PASSWORD={} mysql",
    "  512  export SECRET_KEY={}",
)
MARKUP = (
    '{{"user": "bob", "password": "{}"}}',
    '{{\\"apiKey\\": \\"{}\\"}}',
    "<db><password>{}</password></db>",
    '<user name="ana" password="{}" role="x"/>',
    '<property name="db.password" value="{}"/>',
    "| Setting | Value |\n|---|---|\n| Password | {} |\n",
    "| user | password |\n|---|---|\n| bob | {} |\n",
    "id,user,password,role\n1,bob,{},admin\n",
    "Username\tbob\nPassword\t{}\n",
)
CODE = (
    'db = connect(host="db1", password="{}", port=1)',
    "    'password': '{}',",
    'password: str = "{}"',
    'os.getenv("DB_PASSWORD", "{}")',
    "const authToken = '{}';",
    'ds.setPassword("{}");',
    "define('DB_PASSWORD', '{}');",
    ':password => "{}"',
    "requests.get(url, auth=('bob', '{}'))",
    "CREATE USER 'shop'@'%' IDENTIFIED BY '{}';",
    "UPDATE users SET password = '{}' WHERE id = 3;",
)
PROSE = (
    "The password: {}",
    "the password is {}",
    "**Password:** `{}`",
    "*Password:* {}",
    "Password - {}",
    "private key: {}",
    "Authorization: Bearer {}",
    "postgres://shop:{}@db1:5432/shop",
    "https://x.example.org/v1?user=a&access_token={}&p=2",
)
PLACES = (*FILES, *COMMANDS, *MARKUP, *CODE, *PROSE)
ALPHABETS = {
    "letters": string.ascii_letters,
    "small letters": string.ascii_lowercase,
    "letters and digits": string.ascii_letters + string.digits,
    "digits": string.digits,
    "symbols": string.ascii_letters + string.digits + "!$%*+-.:=^_~",
}
WORDS = ("correct", "horse", "battery", "staple", "lantern", "harbour", "violin", "glacier", "walnut", "saddle")


@given(place=st.sampled_from(PLACES), seed=st.integers(0, 1_000_000))
def test_no_generated_password_survives_behind_a_telling_name(place: str, seed: int) -> None:
    """Twenty characters of any alphabet, or words with dashes, leave not eight in a row."""
    source = random.Random(seed)
    values = ["".join(source.choices(alphabet, k=20)) for alphabet in ALPHABETS.values()]
    for value in (*values, "-".join(source.choices(WORDS, k=4))):
        clean = redact(place.format(value))
        assert not any(value[at : at + 8] in clean for at in range(len(value) - 7)), (value, clean)


@each_row(
    "value",
    [
        "$kq2Lz9pW!x",
        "<Et4X^B:Xs",
        "(TB+;&OH,1",
        "example!9Kx#2",
    ],
)
def test_no_first_character_and_no_part_excuses_a_value(value: str) -> None:
    """What looks like the beginning of a reference, or holds a word of the list, is a value like any other."""
    assert redact(f"DB_PASSWORD={value}\n") == "DB_PASSWORD=[redacted: password]\n"
    assert redact(f'password = "{value}"') == 'password = "[redacted: password]"'


@each_row(
    "value",
    [
        "",
        "${DB_PASSWORD}",
        "$(cat /run/secret)",
        "{{ db_password }}",
        "<password>",
        'os.environ["DB_PASSWORD"]',
        "process.env.TOKEN",
        "str",
        "None",
        "changeme",
        "xxxxxxxx",
        "your-api-key",
        "[redacted: password]",
        "!Ref DbPassword",
        "DB_PASSWORD",
    ],
)
def test_what_only_stands_for_a_value_is_left(value: str) -> None:
    """References, nothing, types, constants, and the short list of whole words."""
    for text in (f"DB_PASSWORD={value}\n", f"api_key: {value}\n", f"password: '{value}'\n"):
        assert redact(text) == text


@each_row(
    "text",
    [
        "    password = pw\n    return login(user, password)",
        "login(user=user, password=secret_of(user), token=tok)",
        "self.token = value",
        "const { token } = session;\nconst password = ctx.value;",
        "def login(user: str, password: Credential) -> None:",
        'password = getpass("Password: ")',
    ],
)
def test_a_name_or_a_call_of_program_code_is_no_value(text: str) -> None:
    """Without quotes, where only code is written so, it is what holds the value."""
    assert redact(text) == text


@each_row(
    "text, is_secret",
    [
        ("password = lanternharbour", True),
        ("DB_PASSWORD=lanternharbour", True),
        ("password: lanternharbour", True),
        ("    password = lanternharbour\n    return connect(password)", False),
        ('    password = "lanternharbour"\n    return connect(password)', True),
        ("connect(password=lanternharbour)", False),
        ("DB_PASSWORD=lanternharbour\n./deploy.sh\nreturn 1\n", True),
    ],
)
def test_letters_alone_are_judged_by_the_syntax_of_their_place(text: str, *, is_secret: bool) -> None:
    """In quotes, and in settings, they are a value; without quotes in code, a name."""
    assert bool(find_secrets(text)) is is_secret


@each_row(
    "text",
    [
        "the password is wrong",
        "the token is expired, please renew it",
        "password: the password of the database",
        "Use --password to set the password",
        '"password": "Please enter your password"',
        "max_tokens = 4000000",
        "tokenizer = 'wordpiece'",
        "| Name | Password | Role |\n",
        'fields = ("username", "password", "first_name")',
        "cache_key = 'user_settings'",
    ],
)
def test_sentences_and_lists_about_credentials_are_left(text: str) -> None:
    """A plain word of a sentence, a list of field names, and names that tell of something else."""
    assert redact(text) == text


@pytest.mark.timeout(120)
@pytest.mark.full
@each_row(
    "seed",
    [
        "key=",
        "sid=",
        "pwd=",
        "pwd: ",
        "pw ",
        "password: a\n",
        "pwd=abcd\n",
        "pwd = abcde\n",
        'pwd="',
        "token=",
        "| pwd ",
        "pwd: |\n",
        "pwd=${",
        "password is ",
        "--token ",
        "<password>",
        "user a ",
        "://a:",
        "eyJ",
        "into x (password) values ('",
        "pwd=a.b(",
        "\u5bc6\u7801: a ",
        "Authorization: Bearer ",
    ],
)
def test_the_time_grows_with_the_length_alone(seed: str) -> None:
    """Eight times the text takes at most twenty times as long, and 100 KB of anything a few seconds at worst."""
    times = []
    for size in (12_500, 100_000):
        started = time.process_time()
        redact(seed * (size // len(seed)))
        times.append(time.process_time() - started)
    assert times[1] < max(20 * times[0], 0.5)
    assert times[1] < 5


@each_row("place", [place for place in (*FILES, *MARKUP, *CODE) if '"{}' in place or "'{}" in place or ": {}" in place])
def test_a_passphrase_with_blanks_does_not_survive(place: str) -> None:
    """In quotes, and behind the colon of a file of settings, all words are the value."""
    assert "staple" not in redact(place.format("correct horse battery staple"))
