"""A link's label never shows another host than the one that the link leads to."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from blocks.text.mrkdwn import labelled_link, to_mrkdwn
from tests.tables import each_row

SHOWN = re.compile(r"<https://evil\.example/[^<>|]*(?:\|[^<>]* \(evil\.example\))?>", re.DOTALL)
EVIL = "https://evil.example/a"
MASKS = [
    "bank.com",
    "www.bank.com",
    "BANK.COM/login",
    "https://bank.com",
    "see bank.com, please",
    "ba\u200bnk.com",
    "bank\u200b.\u200bcom",
    "https\uff1a//bank.com",
    "https:\u2215\u2215bank",
    "https:\uff0f\uff0fbank",
    "//bank/login",
    "bank\u3002com",
    "bank\uff0ecom",
    "bank\u2024com",
    "bank\u00b7com",
    "bank . com",
    "bank. com",
    "bank[.]com",
    "bank(dot)com",
    "\uff42\uff41\uff4e\uff4b.com",
    "b\u0430nk.com",
    "xn--bnk-5cd.com",
    "bank%2Ecom",
    "bank%252Ecom",
    "user@bank.com",
    "10.0.0.1:8080",
    "localhost",
    "moc.knab\u202e",
    "evil.example.bank.com",
]


@each_row("label", MASKS)
def test_a_label_that_names_another_host_is_left_out(label: str) -> None:
    """However it is spelled; the address itself is shown."""
    assert labelled_link(EVIL, label) == f"<{EVIL}>"
    assert to_mrkdwn(f"[{label}]({EVIL})") == f"<{EVIL}>"


@each_row("label", ["docs", "/login", "config.py", "evil.example", "version 1.2.3", "retry (v2)", "a/b.ts:3"])
def test_other_labels_stand_before_the_host(label: str) -> None:
    """A path, a file and the host itself are no other host."""
    assert labelled_link(EVIL, label) == f"<{EVIL}|{label} (evil.example)>"


@each_row(
    "url",
    [
        "https://bank.com@evil.example/a",
        "https://bank.com:443@evil.example/a",
        "https://evil.example\\@bank.com/a",
        "https:///evil.example/a",
        "https:evil.example/a",
        "HTTPS://EVIL.EXAMPLE/a",
        "https://%65vil.example/a",
        "https://evil\uff0eexample/a",
        "https://ev\u200bil.example/a",
    ],
)
def test_the_host_is_the_one_a_browser_goes_to(url: str) -> None:
    """User info, backslashes, percent signs and wide signs do not hide it."""
    assert "(evil.example)>" in str(labelled_link(url, "docs"))
    assert "bank.com@" not in str(labelled_link(url, "docs"))


def test_an_international_host_is_shown_as_dns_knows_it() -> None:
    """A Cyrillic letter does not pass for a Latin one."""
    assert labelled_link("https://b\u0430nk.com/", "bank") == "<https://xn--bnk-6cd.com/|bank (xn--bnk-6cd.com)>"


@each_row(
    "url",
    [
        "javascript:alert(1)",
        "!channel",
        "https://",
        "https://a b",
        "https://evil|bank.com",
        "https://-",
        "//x.io",
        "data:x",
    ],
)
def test_what_is_no_address_is_no_link(url: str) -> None:
    """It is shown as text."""
    assert labelled_link(url, "docs") is None


def test_slack_s_own_form_of_a_link_is_read_as_one() -> None:
    """Its label is a label."""
    assert to_mrkdwn("<https://evil.example/a|bank.com>") == f"<{EVIL}>"
    assert to_mrkdwn("<https://evil.example/a|docs>") == f"<{EVIL}|docs (evil.example)>"


def test_an_address_with_another_host_before_its_at_sign_is_no_link() -> None:
    """Slack makes links of bare addresses; this one would show the wrong host first."""
    assert "https://" not in to_mrkdwn("see https://bank.com@evil.example/a")


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_link_of_any_text_shows_its_host_or_nothing_else(label: str, path: str) -> None:
    """Property: the label ends in the target's host, or there is none."""
    link = labelled_link(f"https://evil.example/{path}", label)
    assert link is None or re.fullmatch(
        r"<https://evil\.example/[^<>|]*(?:\|[^<>]* \(evil\.example\))?>", link, re.DOTALL
    )
