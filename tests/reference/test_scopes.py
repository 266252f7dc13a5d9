"""The scopes of the app are printed from its manifest, each with its reason."""

from __future__ import annotations

import pytest
import yaml

from reference.__main__ import HERE
from reference.scopes import scopes_part
from reference.settings import Undescribed


def test_every_scope_of_the_manifest_is_printed() -> None:
    manifest = yaml.safe_load((HERE / "manifest.yml").read_text())
    scopes = manifest["oauth_config"]["scopes"]["bot"]
    assert [line.split("`")[1] for line in scopes_part().splitlines()[2:]] == scopes


def test_a_scope_without_a_reason_is_refused_by_name() -> None:
    with pytest.raises(Undescribed, match=r"^users:read$"):
        scopes_part("  scopes:\n    bot:\n      - chat:write # cards\n      - users:read\n")
