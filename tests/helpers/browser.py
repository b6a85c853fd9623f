"""A headless Chromium for tests and the benchmark: Debian's, never one that a package downloads."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from playwright.sync_api import Browser, Dialog, Page, sync_playwright

CHROMIUM: Final = shutil.which("chromium")
MISSING: Final = "there is no chromium here: pages are not tested in a browser (Debian: apt-get install chromium)"
_ARGUMENTS: Final = (
    "--no-sandbox",  # in a container we may be root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    assert CHROMIUM is not None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_ARGUMENTS))
        yield browser
        browser.close()


class Watched:
    """A page of which every complaint and every request is kept."""

    def __init__(self, browser: Browser, **options: Any):
        options.setdefault("viewport", {"width": 1280, "height": 800})
        options.setdefault("reduced_motion", "reduce")
        self.context = browser.new_context(**options)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", self._dismissed)
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _dismissed(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def close(self) -> None:
        self.context.close()
