"""What codebases of a few files answer, and where they keep silent: that they do not hold a word says little."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from bot.casework.checks import check_return
from tests.casework.investigate.finder import FILES, ask
from tests.gitrepo import make_repo
from tests.journeys.shop import RETRIES, SESSIONS, SHOP, TIMEOUTS
from tests.journeys.test_codebases import INFRA, WORKERS
from tests.tables import each_row

RELAY: Final[Mapping[str, str]] = {
    "relay/mail.py": 'def deliver(letter, retry_pause_s=30):\n    """Hand a letter over."""\n    return letter\n',
    "relay/options.py": (
        "def add_options(parser):\n"
        '    parser.add_option("spool_dir", default="/var/spool", help="where letters wait")\n'
    ),
    "config/relay.yml": "queue:\n  poll_interval: 15\n  batch_size: 40\n",
    "config/limits.toml": "[attachments]\nmax_bytes = 5_000_000\n",
    "web/client.js": (
        "const defaults = {\n  headerTimeout: 4000,\n}\n\nfunction redirect(url) {\n  let status = 302\n"
        "  return send(url, status)\n}\n\nfunction location(url) {\n  let status = 201\n  return send(url, status)\n}\n"
    ),
    ".tools.yml": 'node_version: "20"\n',
    "relay/parcels.py": "class Parcel:\n    weight_g = 0\n",
    "relay/labels.py": "class Parcel:\n    label = ''\n",
    "server/serve.go": "package server\n\n// How long an idle connection stays open.\nconst KeepAliveSeconds = 75\n",
    "examples/web-service/index.js": "// an example service with a database in memory\nconst database = {}\n",
}
CODEBASES: Final[Mapping[str, Mapping[str, str]]] = {"shop": SHOP, "infra": INFRA, "client": FILES, "relay": RELAY}
SILENT: Final = ""


@pytest.fixture(scope="module")
def codebases(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """The checkout of each codebase, in a folder of its own for its index."""
    folder = tmp_path_factory.mktemp("codebases")
    return {name: make_repo(folder / name / "code", dict(files)) for name, files in CODEBASES.items()}


@each_row(
    "codebase, question, path, quoted",
    [
        ("shop", SESSIONS, "shop/sessions.py", "sign_session"),
        ("shop", RETRIES, "shop/retry.py", "backoff_delays"),
        ("shop", TIMEOUTS, "config/warehouse.toml", "pick_list = 45"),
        ("shop", "Which hash signs the cookies of verify_session?", "shop/sessions.py", "def verify_session"),
        ("shop", "why is FIRST_DELAY_S so short for the payment people?", "shop/retry.py", "FIRST_DELAY_S = 0.5"),
        ("shop", "how long are the pauses of `backoff_delays` under load?", "shop/retry.py", "def backoff_delays"),
        ("shop", "where is the retry of the gateway set?", "shop/retry.py", "MAX_ATTEMPTS = 5"),
        ("shop", "how many attempts before we give up on a payment?", "shop/retry.py", "MAX_ATTEMPTS = 5"),
        ("shop", "what is the read timeout of the warehouse", "config/warehouse.toml", "read = 10"),
        ("shop", "At which hour does the nightly export of orders run?", "shop/export.py", "EXPORT_HOUR_UTC = 2"),
        ("infra", WORKERS, "deploy/workers.py", "MIN_WORKERS = 2"),
        ("infra", "where is the number of workers scaled?", "deploy/workers.py", "def scale_workers"),
        ("client", "how many workers serve the shop?", "config/shop.yml", "workers: 4"),
        ("client", "what happens with an empty cart?", "shop/cart.py", "empty cart"),
        (
            *("client", "why does OrderService open a new client for every single order we take?"),
            *("shop/client.py", "class OrderService"),
        ),
        ("relay", "what is the default retry pause when delivering a letter", "relay/mail.py", "retry_pause_s=30"),
        ("relay", "which directory is the spool by default?", "relay/options.py", 'default="/var/spool"'),
        ("relay", "how often is the queue polled?", "config/relay.yml", "poll_interval: 15"),
        ("relay", "biggest attachment we take, in bytes?", "config/limits.toml", "max_bytes = 5_000_000"),
        ("relay", "default header timeout of the web client", "web/client.js", "headerTimeout: 4000"),
        ("relay", "what is the default status of `redirect`", "web/client.js", "let status = 302"),
        ("relay", "how many seconds is an idle connection kept open?", "server/serve.go", "KeepAliveSeconds = 75"),
        ("relay", "what is node_version in .tools.yml?", ".tools.yml", 'node_version: "20"'),
        ("relay", "where is Parcel defined?", "relay/labels.py", "class Parcel"),
        ("relay", "where is `Parcell` defined?", "relay/labels.py", "class Parcel"),
        ("relay", "Which database does the checkout service use?", SILENT, ""),
        ("relay", "what is the default port of the metrics exporter?", SILENT, ""),
        ("relay", "where do we store the customer's invoices?", SILENT, ""),
        ("relay", "how is the user's session encrypted?", SILENT, ""),
        ("shop", "who pays for the coffee machine?", SILENT, ""),
        ("shop", "how do I reset my vpn password?", SILENT, ""),
        ("shop", "which kafka topic gets the invoices?", SILENT, ""),
        ("shop", WORKERS, SILENT, ""),
        ("infra", "which region do our lambdas run in?", SILENT, ""),
        ("client", "how do refunds reach the customer's bank?", SILENT, ""),
    ],
)
def test_a_few_files_answer_what_they_hold(
    codebases: Mapping[str, Path], codebase: str, question: str, path: str, quoted: str
) -> None:
    """With the lines that tell it, and in words that they prove; with nothing what they do not hold."""
    found = ask(codebases[codebase], question)
    refs = found.ret.evidence_refs
    assert [one.ref.rpartition(":")[0] for one in refs[:1]] == [path][: bool(path)]
    assert quoted in "".join(one.quote for one in refs[:1])
    checks = check_return(found.ret, repo=codebases[codebase], ledger=found.ledger, question=question)
    assert [one.reason for one in checks if one.ok is False and refs] == []


def test_a_value_is_quoted_without_the_next_function(codebases: Mapping[str, Path]) -> None:
    """What another function sets beside it is no answer."""
    (ref,) = ask(codebases["relay"], "what is the default status of `redirect`").ret.evidence_refs
    assert "302" in ref.quote
    assert "201" not in ref.quote
