"""Which mentions want a playbook changed: what is surely an order, and nothing that could be a question."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.playbooks.playbook_entries import plain_text
from bot.domain.playbooks.playbook_requests import parse_playbook_request
from tests.tables import each_row

SESSIONS = {"shop": "Shop", "shop-api": "Shop API", "tooling": "Tooling"}

WISHES = [
    ("watch the CDN cache hourly from now on", "add hourly Watch the CDN cache"),
    ("please watch the CDN cache from now on", "add hourly Watch the CDN cache"),
    ("from now on, check the error rate daily", "add daily Check the error rate"),
    ("from now on, check the error rate", "add hourly Check the error rate"),
    ("check the certificates every day, thanks!", "add daily Check the certificates"),
    ("every day check the certificates", "add daily Check the certificates"),
    ("check the certificates once a day", "add daily Check the certificates"),
    ("keep an eye on disk usage every hour", "add hourly Keep an eye on disk usage"),
    ("monitor queue depth on every beat", "add quick Monitor queue depth"),
    ("start watching the login page daily", "add daily Watch the login page"),
    ("hey, monitor `df -h` every beat please", "add quick Monitor `df -h`"),
    ("watch <https://status.example.com|the status page> hourly", "add hourly Watch https://status.example.com"),
    ("add a check for expiring certificates to the daily checks", "add daily Expiring certificates"),
    ("add “Disk usage” to your heartbeat", "add hourly Disk usage"),
    ("check the hourly job daily", "add daily Check the hourly job"),
    ("Watch the R&amp;D queue hourly", "add hourly Watch the R&D queue"),
    ("stop checking stale branches", "remove  stale branches"),
    ("please stop watching the CDN cache.", "remove  the CDN cache"),
    ("stop checking the disk every day", "remove  the disk"),
    ("don't check stale branches anymore", "remove  stale branches"),
    ("don’t watch the queue any longer", "remove  the queue"),
    ("remove the dependency audit from the daily tasks", "remove  the dependency audit"),
    ("drop stale branches from your playbook", "remove  stale branches"),
    ("move the dependency audit to daily", "move daily the dependency audit"),
    ("move the dependency audit from hourly to the daily tasks", "move daily the dependency audit"),
    ("check the certificates daily instead of hourly", "move daily the certificates"),
    ("watch the disk only every hour instead", "move hourly the disk"),
]
NONE = [
    "",
    "help",
    "watch the CDN cache",
    "check the CDN cache",
    "check the logs of the last deploy",
    "can you watch the CDN cache hourly?",
    "should we watch the CDN cache hourly from now on?",
    "watch the CDN cache hourly? I think so",
    "why does the hourly job fail",
    "check why the hourly job fails daily",
    "check whether the backups run daily",
    "check if the report is sent every day",
    "look at the cron job that runs hourly",
    "look at the job running hourly",
    "check the build failing every day",
    "the deploy fails every day",
    "we watch the CDN cache hourly",
    "I moved the dependency audit to daily",
    "who decided to stop checking stale branches",
    "stop",
    "stop it",
    "stop checking",
    "stop checking this",
    "stop watching this thread",
    "don't check this anymore",
    "don't stop checking stale branches",
    "move on to the next question",
    "move the button to the left",
    "move it to daily",
    "remove the flag from the config",
    "remove the user from the list of admins",
    "add retries to the client",
    "add logging to the daily job",
    "add me to the daily standup",
    "watch the queue every 5 minutes",
    "watch the queue every week from now on",
    "run the report weekly",
    "check out the hourly job",
    "check with Bob every day",
    "watch the queue hourly\nand the deploy is red",
    "&gt; watch the queue hourly",
    "```watch the queue hourly```",
    "tell <@U2> to watch the queue hourly",
    "watch <#C0OPS|ops> hourly",
    "watch <!channel> hourly",
    "watch <!-- x --> hourly",
    "watch ``` hourly",
    "watch " + "x" * 390 + " hourly",
    "what is due daily",
    "track down the bug that appears every hour",
    "verify the fix because it fails daily",
]


@each_row("text, wish", WISHES)
def test_an_order_is_a_wish(text: str, wish: str | None) -> None:
    """With its tier; hourly where it names none."""
    found = parse_playbook_request(f"<@U0BOT> {text}", SESSIONS)
    assert (found and f"{found.verb} {found.tier or ''} {found.task}") == wish
    if not text.endswith((".", "!", "please")) and wish:
        assert parse_playbook_request(f"{text} <@U0BOT>", SESSIONS) == found


@each_row("text", NONE)
def test_anything_else_is_none(text: str) -> None:
    """A question, a report, an order for once, and whatever holds more than one plain line."""
    assert parse_playbook_request(f"<@U0BOT> {text}", SESSIONS) is None


@each_row(
    "text, names, task",
    [
        ("watch the CDN cache hourly in shop", ("shop",), "Watch the CDN cache"),
        ("watch the CDN cache for Shop API hourly", ("shop-api",), "Watch the CDN cache"),
        ("watch the CDN cache in shop-api hourly", ("shop-api",), "Watch the CDN cache"),
        ("in your heartbeat, watch the tooling queue", ("tooling",), "Watch the tooling queue"),
        ("watch the CDN cache hourly", (), "Watch the CDN cache"),
        ("watch the shopping cart hourly", (), "Watch the shopping cart"),
        ("watch `git log in shop` hourly", (), "Watch `git log in shop`"),
    ],
)
def test_the_session_is_named_in_the_text(text: str, names: tuple[str, ...], task: str) -> None:
    """By id or name, as a whole word, outside code; "in shop" is no part of the task."""
    found = parse_playbook_request(f"<@U0BOT> {text}", SESSIONS)
    assert found is not None
    assert (found.names, found.task) == (names, task)


@given(st.text(max_size=60), st.sampled_from(["watch {} hourly", "stop checking {}", "move {} to daily", "{}"]))
def test_whatever_is_written_a_task_is_one_plain_line(words: str, form: str) -> None:
    """Or there is no wish."""
    found = parse_playbook_request(f"<@U0BOT> {form.format(words)}", SESSIONS)
    assert found is None or plain_text(found.task) == found.task
