"""Advice that breaks things is told apart from an explanation of what the code does."""

from __future__ import annotations

from bot.domain.questions.risk_gate import LANGUAGES, RULES, TABLES, commands_in_code, commands_in_prose, risky_advice
from bot.domain.text.linear_patterns import folded
from tests.domain.questions.risk_data import commands, read_risk_data
from tests.tables import each_row

ADVICE = {
    "rollback": [
        "Roll back the deploy to v1.2.",
        "You should rollback the release.",
        "I'd recommend reverting PR 12.",
        "The fix is to roll back.",
        "Run `git revert abc`.",
        "If it keeps failing, roll back.",
        "Stop the worker and then rollback to 1.3.",
        "A rollback of the release fixes it in the production environment.",
        "In production, a quick rollback helps.",
        "Reverting PR 12 solves it.",
        "A rollback is the only fix.",
        "It can be fixed by a rollback.",
    ],
    "data deletion": [
        "Delete the rows in `orders`.",
        "You can drop the table.",
        "Run `rm -rf /var/data`.",
        "The rows should be deleted.",
        "Purge the queue, then restart.",
        "```sql\nDELETE FROM users;\n```",
        "Clear all messages first.",
        "Removal of the old rows fixes it.",
    ],
    "code change": [
        "Change line 12 in `config.py` to 5.",
        "You should replace `foo` with `bar`.",
        "Add a null check in the parser function.",
        "Edit bot/app.py and restart.",
        "```diff\n- a\n+ b\n```",
        "To fix it, update the default argument.",
        "Comment out the call.",
    ],
    "weaker security": [
        "Set Access-Control-Allow-Origin to *.",
        'Use `allowed_origins=["*"]`.',
        "Allow origin * for the API.",
    ],
    "look-alike letters": ["D\u0435lete the table.", "Run `kubectl del\u0435te pod x`.", "Dr\u03bfp it."],
    "advice for one customer": [
        "Tell the customer to upgrade their plan.",
        "Customer Acme should move to plan B.",
        "You should refund this customer.",
        "For customer 4711 you can raise the limit.",
    ],
}
EXPLANATIONS = [
    "CORS origins are read from *.yml, and Access-Control-Allow-Origin is set per tenant.",
    "\u0394t is 5 \u00b5s in the API-\u0448\u043b\u044e\u0437.",
    "The job deletes rows older than 30 days.",
    "Delete requests are handled by `orders.py`.",
    "The migration runner rolls back on failure.",
    "Rollback is handled in `db.py`.",
    "`delete_user` removes the row; see the code.",
    "The queue drops messages after 3 attempts.",
    "Each customer has one account.",
    "It was reverted in abc1234.",
    "The function changes the code path when `x` is set.",
    "Rows are deleted by a nightly job.",
    "On error a rollback restores the row.",
    "The rollback helper lives in `db.py`.",
    "The caching helps, and it changed the code path.",
    "You can read it in `bot/app.py`.",
    "Run `make test` to run the tests.",
    "Get the value out of the config table.",
    "Nimm den Namen aus der Tabelle und zeig ihn an.",
    "Sube el archivo y luego revisa el log.",
    "部署在测试之后进行。",
    "The event 'reboot' is emitted by `device.py`.",
    "`pip` reads `trusted-host` from `pip.conf`.",
]


@each_row("kind, draft", [(kind, draft) for kind, drafts in ADVICE.items() for draft in drafts])
def test_advice_is_named_by_its_risk(kind: str, draft: str) -> None:
    """Imperatives, recommendations and commands to run are advice."""
    assert any(found.startswith(kind) for found in risky_advice(draft))


@each_row(
    "draft",
    [
        "データがおかしいのでテーブルを削除します。",
        "エラーが出る場合はロールバックすると直ります。",
        "毎日本番のテーブルを手で削除する必要がある。",
    ],
)
def test_a_reason_in_japanese_does_not_make_advice_a_description(draft: str) -> None:
    """What is broken stands before が as who does it does: "インポーターが行を削除します" is none."""
    assert risky_advice(draft) != []
    assert risky_advice("インポーターが行を削除します。") == []


@each_row("draft", EXPLANATIONS)
def test_an_explanation_is_no_advice(draft: str) -> None:
    """To say what the code does is what the bot is for."""
    assert risky_advice(draft) == []


def test_a_command_that_the_evidence_holds_is_a_quotation() -> None:
    """The same words are advice when no citation vouches for them."""
    draft = "The cleanup runs `DELETE FROM sessions WHERE old`."
    assert risky_advice(draft, ["    DELETE FROM sessions WHERE old\n"]) == []
    assert risky_advice(draft) != []


@each_row("language", LANGUAGES)
def test_advice_is_understood_in_eight_languages(language: str) -> None:
    """Of the sentences that the lists were not built on: 9 of 10 risky ones are found, 1 of 6 others at most."""
    sentences = read_risk_data(language)
    missed = [text for text in sentences["risky"][1::2] if not risky_advice(text)]
    alarms = [text for text in sentences["harmless"][1::2] if risky_advice(text)]
    assert len(missed) <= 2, missed
    assert len(alarms) <= 3, alarms


def test_what_another_hand_wrote_is_told_apart() -> None:
    """Sentences and commands of somebody who had not read the lists; they mended them."""
    written = read_risk_data("another_hand")
    assert [text for text in (*written["risky"], *written["commands"]) if not risky_advice(text)] == []
    assert [text for text in (*written["harmless"], *written["harmless_commands"]) if risky_advice(text)] == []


@each_row("language", LANGUAGES)
def test_advice_that_once_passed_unseen_is_found(language: str) -> None:
    """The sentences that were written against the lists."""
    attacks = read_risk_data("attacks")[language]
    missed = [text for text in attacks if not risky_advice(text)]
    assert len(missed) <= len(attacks) * 0.1, missed


@each_row("language", LANGUAGES)
def test_every_language_has_every_group_of_words(language: str) -> None:
    """A rule that joins a group would never apply where the group is missing."""
    groups = {group for rules in RULES.values() for rule in rules for group in rule}
    assert groups <= set(TABLES[language].words)
    assert TABLES[language].advises


@each_row(
    "risky, forbidden",
    [
        ("Delete the table.", "Never delete the table."),
        ("Lösche die Tabelle.", "Lösche die Tabelle nicht."),
        ("Borra la tabla.", "No borres la tabla."),
        ("Supprime la table.", "Ne supprime pas la table."),
        ("Hapus tabelnya.", "Jangan hapus tabelnya."),
        ("テーブルを削除してください。", "テーブルを削除しないでください。"),
        ("Apague a tabela.", "Não apague a tabela."),
        ("请删除这张表。", "请勿删除这张表。"),
    ],
)
def test_a_warning_is_no_advice_to_do_it(risky: str, forbidden: str) -> None:
    """Where it is forbidden, nobody is told to do it."""
    assert risky_advice(risky)
    assert risky_advice(forbidden) == []


@each_row("draft", ["Do not forget to delete the table.", "Don't wait, drop the table.", "No olvides borrar la tabla."])
def test_a_not_that_forbids_something_else_hides_nothing(draft: str) -> None:
    """Only the word right beside it is forbidden."""
    assert risky_advice(draft)


def _around_commands(kind: str) -> list[str]:
    data = read_risk_data("warnings")
    return [*(text for texts in data[kind].values() for text in texts), *data["later"][kind]]


@each_row("text", _around_commands("risky"))
def test_an_order_to_run_a_command_or_to_hand_out_rights_is_found(text: str) -> None:
    """Also beside a warning, under a condition, and where "not" forbids something else."""
    assert risky_advice(text)


@each_row("text", _around_commands("harmless"))
def test_a_warning_of_a_command_is_no_advice_to_run_it(text: str) -> None:
    """In eight languages, before the command or behind it."""
    assert risky_advice(text) == []


def test_a_block_of_commands_counts_whatever_stands_before_it() -> None:
    """Who copies it does not read the sentence above."""
    assert risky_advice("Never run this:\n```\nrm -rf /var/data\n```")


def test_letters_are_compared_without_their_accents() -> None:
    """As people type them in a hurry, and as full-width letters."""
    assert folded("LÖSCHE ｄｉｅ Größe") == "losche die grosse"
    assert folded("データ") == "データ"


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
        ("acmectl cluster destroy eu-1", "data deletion"),
        ("cd /srv\nsudo rm -rf data\nls", "data deletion"),
        ("UPDATE orders\n  SET state = 'paid'", "data change"),
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


@each_row(
    "text", ["Just run rm -rf /srv/data", "Do DELETE FROM orders", "use curl -k https://x", "dd if=a of=/dev/sda it is"]
)
def test_a_command_without_marks_of_code_is_found_in_a_sentence(text: str) -> None:
    """People do not always write backticks."""
    assert commands_in_prose(text)


@each_row(
    "text",
    ["Delete from the list what you do not need", "The format is fixed", "update the users, set a limit", "kill it"],
)
def test_a_sentence_is_not_a_command(text: str) -> None:
    """Words of everyday English that are also names of commands."""
    assert commands_in_prose(text) == []
