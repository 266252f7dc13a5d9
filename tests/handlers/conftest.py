"""A stub of Slack's Web API for the tests of the edge."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes import FakeMonotonic
from tests.handlers.slack_stub import SlackStub, slack_stub


@pytest.fixture
def slack() -> Iterator[SlackStub]:
    """A server on this machine that answers as Slack does."""
    with slack_stub() as stub:
        yield stub


@pytest.fixture
def watch() -> FakeMonotonic:
    """The time of these tests."""
    return FakeMonotonic()
