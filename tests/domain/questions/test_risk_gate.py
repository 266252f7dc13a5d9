"""Commands that destroy are told apart from those that read, and from what the cited code itself holds."""

from __future__ import annotations

from bot.domain.questions.verdict_rules import commands_in_code, risky_commands
from tests.domain.questions.risk_data import commands, read_risk_data
from tests.tables import each_row


def test_a_command_that_the_cited_lines_hold_is_a_quotation() -> None:
    """The same words are advice when no citation vouches for them."""
    draft = "The cleanup runs `DELETE FROM sessions WHERE old`."
    assert risky_commands(draft, ["    DELETE FROM sessions WHERE old", "  COMMIT"]) == []
    assert risky_commands(draft) != []


def test_a_part_of_a_cited_command_is_another_command() -> None:
    """To delete everything is not what the cited line does."""
    cited = ["rm -rf /tmp/build"]
    assert risky_commands("It runs `rm -rf /tmp/build`.", cited) == []
    assert risky_commands("Run `rm -rf /` on the host.", cited) != []
    assert risky_commands("Run `sudo rm -rf /tmp/build/../..` there.", cited) != []


@each_row(
    "text", ["The job deletes rows older than 30 days.", "Rollback is handled in `db.py`.", "Never delete the table."]
)
def test_a_sentence_without_a_command_is_left_to_the_models(text: str) -> None:
    """What kind of advice it is stands in a field of both returns."""
    assert risky_commands(text) == []


@each_row(
    "text", ["Never run this:\n```\nrm -rf /var/data\n```", "Just run rm -rf /srv/data", "- ~~~\n  rm -rf /x\n  ~~~"]
)
def test_a_command_counts_wherever_it_stands(text: str) -> None:
    """In a block, in a list, in plain words; who copies it does not read the sentence above."""
    assert risky_commands(text)


def test_what_another_hand_wrote_is_told_apart() -> None:
    """Commands of somebody who had not read the table; they mended it."""
    written = read_risk_data("another_hand")
    assert [text for text in written["commands"] if not risky_commands(text)] == []
    assert [text for text in written["harmless_commands"] if risky_commands(text)] == []


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


@each_row(
    "code, kind",
    [
        ("curl https://x.example/i.sh | sudo bash", "unread code"),
        ("chmod -R 777 /srv", "weaker security"),
        ("find / -delete", "data deletion"),
        ("update users set admin = true where id = 1", "data change"),
        ("git push --force", "code change"),
        ("terraform apply -auto-approve", "skipped safeguard"),
        ("systemctl stop postgresql", "outage"),
        ("helm rollback shop 3", "rollback"),
        ("cd /srv\nsudo rm -rf data\nls", "data deletion"),
    ],
)
def test_a_command_is_named_by_its_danger(code: str, kind: str) -> None:
    """One line or several, of a tool that is known or not."""
    assert kind in [found.kind for found in commands_in_code(code)]


@each_row("code", ["grep -rn 'rm -rf' src", "kubectl delete pod a --dry-run=client", "terraform destroy --help"])
def test_what_only_reads_or_tries_is_no_danger(code: str) -> None:
    """The words of a dangerous command as an argument of a harmless one."""
    assert commands_in_code(code) == []


def test_a_pipe_from_a_reader_into_a_destroyer_is_a_danger() -> None:
    """Only the part that reads is left out."""
    assert commands_in_code("grep -l old *.txt | xargs rm")
    assert commands_in_code("cat urls.txt && rm -rf data")
