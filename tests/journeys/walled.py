"""Two teams with a wall between them: who approves for one is in the other's ops channel, and decides nothing."""

from __future__ import annotations

import json
from pathlib import Path

from blocks import ids
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, ENG, HELP, DemoChannel, DemoWorkspace
from tests.gitrepo import make_repo
from tests.hands import Control, Json, find_option
from tests.journeys.company import PLAT_OPS, Company
from tests.journeys.shop import SHOP
from tests.journeys.test_codebases import INFRA

AT_TRIAGE = f"<@{DEMO.bot_id}>"
PAY_OPS = DemoChannel(channel_id="C0PAYOPS", name="pay-ops", members=(ANA.user_id, BEN.user_id), is_private=True)
RANDOM = DemoChannel(channel_id="C0RANDOM", name="random", members=HELP.members)
WALLED = DemoWorkspace(users=(CHLOE, ANA, BEN), channels=(HELP, ENG, RANDOM, PAY_OPS, PLAT_OPS))
CODEBASES = ("shop", "infra")

PAYMENTS = {
    "ops_channel": PAY_OPS.channel_id,
    "approvers": [ANA.user_id],
    "channels": [{"chat_id": HELP.channel_id, "name": "help"}],
    "codebases": ["shop"],
}
PLATFORM = {
    "ops_channel": PLAT_OPS.channel_id,
    "approvers": [BEN.user_id],
    "channels": [{"chat_id": ENG.channel_id, "name": "eng"}],
}


class Walled(Company):
    """Payments knows the shop only, platform both codebases."""

    def __init__(self, slack: LocalSlack, control: Control, folder: Path) -> None:
        for name, files in zip(CODEBASES, (SHOP, INFRA), strict=True):
            if not (folder / name).exists():
                make_repo(folder / name, files)
        self._codebases = codebases = {name: {"path": str(folder / name)} for name in CODEBASES}
        teams = {"payments": PAYMENTS, "platform": PLATFORM}
        super().__init__(slack, control, folder / "home", folder / "shop", teams, codebases=codebases)

    def share(self, *kinds: str) -> None:
        """Have payments share these, and nothing else."""
        self.reload({"payments": {**PAYMENTS, "share": [*kinds]}, "platform": PLATFORM}, codebases=self._codebases)
        self.told(PAY_OPS, f"`share` now: {', '.join(kinds) or 'none'}.")
        self.bot.teams.share()

    def draft(self, ops: DemoChannel, ts: str, channel: DemoChannel) -> Json:
        """Return a thread's card once its draft can be approved."""
        return self.card(ops, ts, channel, offering=ids.APPROVE)

    def ask(self, channel: DemoChannel, text: str) -> str:
        """Ask as Chloe."""
        return self.control.say(channel.channel_id, CHLOE.user_id, text)

    def choose(self, ops: DemoChannel, card: Json, label: str, user: str) -> None:
        """Choose an entry of a card's menu."""
        element = find_option(card, label)
        assert element is not None, f"no {label} on: {shown_text(card)}"
        self.control.click(ops.channel_id, card["ts"], user, **element.click_fields())

    def typed(self, user: str, channel: DemoChannel, text: str, says: str) -> str:
        """Type `/triage …` and return the answer that holds `says`."""
        before = len(self.control.messages(channel.channel_id))
        self.control.command(user, channel.channel_id, text)

        def found() -> str | None:
            new = self.control.messages(channel.channel_id)[before:]
            said = (shown_text(one).replace("*", "") for one in new if one.get("ephemeral_to") == user)
            return next((words for words in said if says in words), None)

        return self.control.wait_for(found, f"/triage {text} to say {says!r}", channel=channel.channel_id)

    def state_of(self, team: str, ts: str) -> Json:
        """Return the state of an open thread."""
        [path] = (self.home / "teams" / team / "state").glob(f"*{ts}.json")
        state: Json = json.loads(path.read_text())
        return state
