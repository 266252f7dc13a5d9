"""The demo's page in a real Chromium, in the words of somebody who uses it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect, sync_playwright

from tests.hands import LIMIT_S

_CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
)
_WAIT_MS = LIMIT_S * 1_000
_SIZE: ViewportSize = {"width": 1280, "height": 860}


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start a browser and close it at the end; skips the test where there is none."""
    executable = next((path for path in map(shutil.which, _CHROMIUM_NAMES) if path), None)
    if executable is None:
        pytest.skip("no Chromium in PATH: install `chromium` to run what needs a browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(_FLAGS))
        yield browser
        browser.close()


@contextmanager
def open_page(browser: Browser, url: str, *, size: ViewportSize = _SIZE) -> Iterator[SlackPage]:
    """Open the workspace's page in a session of its own, `size` pixels large; close it at the end."""
    context = browser.new_context(viewport=size, locale="en-GB", timezone_id="UTC", device_scale_factor=1)
    context.set_default_timeout(_WAIT_MS)
    expect.set_options(timeout=_WAIT_MS)
    page = context.new_page()
    page.goto(url)
    page.get_by_text("ui live").wait_for()
    yield SlackPage(page)
    context.close()


def spoken(label: str) -> re.Pattern[str]:
    """Return what matches a button's name for screen readers: its label, and what it is about."""
    return re.compile(rf"^{re.escape(label)}(:|$)")


class SlackPage:
    """What a person sees and does; a missing thing fails with Playwright's account of what was there."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def act_as(self, real_name: str) -> None:
        """Become another person of the workspace."""
        self.page.locator("label.actas", has_text="Act as").locator("select").select_option(label=real_name)

    def open_channel(self, name: str) -> None:
        """Go to a channel by its name without '#'."""
        self.page.locator(".sidebar-item", has_text=re.compile(rf"^(#|🔒){re.escape(name)}$")).click()
        expect(self.page.locator(".channel-title")).to_contain_text(name)

    def open_direct_messages(self, real_name: str) -> None:
        """Go to the bot's direct messages with a person, once it has written to them."""
        self.page.locator(".sidebar-item", has_text=real_name).click()
        expect(self.page.locator(".channel-title")).to_contain_text(real_name)

    def open_home(self) -> Locator:
        """Go to the bot's App Home and return it once the bot has published it."""
        self.page.locator(".sidebar-item", has=self.page.locator(".app-dot")).click()
        expect(self.page.locator(".home .blocks")).to_be_visible()
        return self.page.locator(".home")

    def post(self, text: str) -> None:
        """Say something in the open channel."""
        self._send(self.page.locator(".main .composer-input"), text)

    def message(self, text: str) -> Locator:
        """Return the newest message of the open channel that shows `text`, a card too, once it is there."""
        return self._newest(self.page.locator(".messages .msg", has_text=text))

    def open_thread(self, text: str) -> None:
        """Open the thread of the message that shows `text`."""
        message = self.message(text)
        message.hover()
        message.get_by_title("Reply in thread").click()
        self.page.locator(".thread-pane").wait_for()

    def reply(self, text: str) -> None:
        """Say something in the open thread."""
        self._send(self.page.locator(".thread-pane .composer-input"), text)

    def thread_message(self, text: str) -> Locator:
        """Return the newest message of the open thread that shows `text`, once it is there."""
        return self._newest(self.page.locator(".thread-pane .msg", has_text=text))

    def click(self, message: Locator, label: str) -> None:
        """Click a button of a card."""
        message.get_by_role("button", name=spoken(label)).click()

    def choose(self, message: Locator, option: str) -> None:
        """Choose from the card's overflow menu, which this page draws as a drop-down list."""
        message.locator("select.bk-overflow").select_option(label=option)

    @property
    def modal(self) -> Locator:
        """The modal on top."""
        return self.page.locator(".modal")

    def fill(self, label: str, text: str) -> None:
        """Type into the modal's text input with this label, over what is there."""
        self._input(label).locator(".bk-plain-input").fill(text)

    def check(self, label: str, option: str) -> None:
        """Check a box or radio button of the input with this label."""
        self._input(label).get_by_label(option, exact=True).check()

    def submit(self, *, refused: bool = False) -> None:
        """Press the modal's submit button and wait until it is gone or, if `refused`, shows why not."""
        self.modal.locator(".modal-btn.primary").click()
        if refused:
            expect(self.modal.locator(".modal-error").first).to_be_visible()
        else:
            expect(self.modal).to_have_count(0)

    def screenshot(self, path: Path, what: Locator | None = None) -> Path:
        """Write a PNG of the page below its top bar, or of one element, and return its path."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.page.mouse.move(0, 0)
        (what if what is not None else self.page.locator(".body")).screenshot(path=path, animations="disabled")
        return path

    def _input(self, label: str) -> Locator:
        named = self.page.locator(".bk-label", has_text=re.compile(rf"^{re.escape(label)}( \(optional\))?$"))
        return self.modal.locator(".bk-input", has=named)

    def _newest(self, messages: Locator) -> Locator:
        messages.last.wait_for()
        return messages.last

    def _send(self, composer: Locator, text: str) -> None:
        composer.fill(text)
        composer.press("Enter")
        expect(composer).to_have_value("")
