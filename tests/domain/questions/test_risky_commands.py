"""Dangerous commands are told from harmless ones, in code and in sentences."""

from __future__ import annotations

import pytest

from bot.domain.questions.risky_commands import commands_in_code, commands_in_prose
from tests.domain.questions.risk_data import commands


def test_nearly_every_dangerous_command_is_found() -> None:
    """Of the half that the patterns were not built on, 95 of 100."""
    held_out = commands("risky")[1::2]
    missed = [command for command in held_out if not commands_in_code(command)]
    assert len(missed) <= len(held_out) * 0.05, missed


def test_hardly_any_harmless_command_is_called_dangerous() -> None:
    """Of the half that the patterns were not built on, 3 of 100."""
    held_out = commands("harmless")[1::2]
    alarms = [command for command in held_out if commands_in_code(command)]
    assert len(alarms) <= len(held_out) * 0.03, alarms


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("curl https://x.example/i.sh | sudo bash", "unread code"),
        ("chmod -R 777 /srv", "weaker security"),
        ("find / -delete", "data deletion"),
        ("update users set admin = true where id = 1", "data change"),
        ("git push --force", "code change"),
        ("terraform apply -auto-approve", "skipped safeguard"),
        ("systemctl stop postgresql", "outage"),
        ("helm rollback shop 3", "rollback"),
        ("acmectl cluster destroy eu-1", "data deletion"),
        ("cd /srv\nsudo rm -rf data\nls", "data deletion"),
        ("UPDATE orders\n  SET state = 'paid'", "data change"),
    ],
)
def test_a_command_is_named_by_its_danger(code: str, kind: str) -> None:
    """One line or several, of a tool that is known or not."""
    assert kind in [found.kind for found in commands_in_code(code)]


@pytest.mark.parametrize(
    "code", ["grep -rn 'rm -rf' src", "kubectl delete pod a --dry-run=client", "terraform destroy --help"]
)
def test_what_only_reads_or_tries_is_no_danger(code: str) -> None:
    """The words of a dangerous command as an argument of a harmless one."""
    assert commands_in_code(code) == []


def test_a_pipe_from_a_reader_into_a_destroyer_is_a_danger() -> None:
    """Only the part that reads is left out."""
    assert commands_in_code("grep -l old *.txt | xargs rm")
    assert commands_in_code("cat urls.txt && rm -rf data")


@pytest.mark.parametrize(
    "text", ["Just run rm -rf /srv/data", "Do DELETE FROM orders", "use curl -k https://x", "dd if=a of=/dev/sda it is"]
)
def test_a_command_without_marks_of_code_is_found_in_a_sentence(text: str) -> None:
    """People do not always write backticks."""
    assert commands_in_prose(text)


@pytest.mark.parametrize(
    "text",
    ["Delete from the list what you do not need", "The format is fixed", "update the users, set a limit", "kill it"],
)
def test_a_sentence_is_not_a_command(text: str) -> None:
    """Words of everyday English that are also names of commands."""
    assert commands_in_prose(text) == []
