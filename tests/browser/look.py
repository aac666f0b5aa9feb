"""A browser as one person uses it, watched: console, axe, width, and a picture of every page."""

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Page

from stack.places import REPO, VENDOR
from tests.browser.demo import Demo

SHOTS = REPO / "var" / "screenshots"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDE, NARROW = 1280, 420
HEIGHT = 900
SERIOUS = ("serious", "critical")
SETTLING = 20
"""Tenths of a second in which a page finds its form again."""
ABORTED = re.compile("htmx:(sendAbort|afterRequest),")
"""htmx calls a search an error that the next key stroke replaced; a failed one it names besides."""
PATIENCE_MS = 60_000
# Contrast takes nine tenths of axe's time, so of a list it looks at the first rows: the others are
# drawn by the same lines of a template.
AXE = """async () => {
  const some = {exclude: [['tbody tr:nth-child(n+6)']]};
  const found = [];
  for (const [context, options] of [
    [document, {rules: {'color-contrast': {enabled: false}}}],
    [some, {runOnly: ['color-contrast']}],
  ]) {
    const run = await axe.run(context, {...options, resultTypes: ['violations']});
    found.push(...run.violations);
  }
  const places = v => v.nodes.slice(0, 3).map(n => n.target.join(' '));
  return found.map(v => [v.impact, v.id, places(v)]);
}"""


class Person:
    """One person with a browser window of their own."""

    def __init__(
        self,
        browser: Browser,
        demo: Demo,
        name: str,
        *,
        theme: str = "light",
        width: int = WIDE,
        script: bool = True,
    ) -> None:
        self.demo, self.name, self.theme, self.width = demo, name, theme, width
        self.context = browser.new_context(
            viewport={"width": width, "height": HEIGHT},
            color_scheme="dark" if theme == "dark" else "light",
            java_script_enabled=script,
        )
        self.context.set_default_timeout(PATIENCE_MS)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not ABORTED.match(message.text):
            self.complaints.append(f"{message.type}: {message.text} ({self.page.url})")

    def go(self, address: str) -> Page:
        """Open an address of the portal (or a whole one, as a mail has it)."""
        self.page.goto(address if address.startswith("http") else self.demo.url + address)
        return self.page

    def sign_in(self) -> "Person":
        """Fill the log-in page that is shown, or go there first."""
        if "/login/" not in self.page.url:
            self.go("/login/")
        self.page.get_by_label("User name").fill(self.name)
        self.page.get_by_label("Password").fill(self.demo.password)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_load_state()
        return self

    def prove_again(self, back: str) -> None:
        """Give the password again, as before an approval."""
        self.go(f"/login/again/?next={back}")
        self.page.get_by_label("Password").fill(self.demo.password)
        self.page.get_by_role("button", name="Go on").click()
        self.page.wait_for_load_state()

    def resize(self, width: int) -> None:
        """Make the window as wide as that; the page stays as it was loaded."""
        self.width = width
        self.page.set_viewport_size({"width": width, "height": HEIGHT})

    def wait_for_charts(self) -> None:
        """Give charts the time to be drawn: after the load, and again for another width."""
        if self.page.locator(".lw-chart").count():
            self.page.wait_for_timeout(300)

    def text(self) -> str:
        """Return the text of the page's content."""
        return re.sub(r"\s+", " ", self.page.locator("#main").inner_text())

    def keep(self, name: str) -> Path:
        """Keep a picture of the page and check what a machine can check of it."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        picture = SHOTS / f"{name}-{self.theme}-{self.width}.png"
        self.page.screenshot(path=picture, full_page=True)
        findings = [finding for finding in self.axe() if finding[0] in SERIOUS]
        assert not findings, (name, findings)
        self.fits(name)
        return picture

    def fits(self, name: str) -> None:
        """Check that the page is not wider than the window, and that the console is quiet."""
        for _ in range(SETTLING):  # after a change of width the tab is brought back into sight
            if not self.hidden_tabs():
                break
            self.page.wait_for_timeout(100)
        assert not self.hidden_tabs(), (name, self.hidden_tabs())
        assert self.overflow() <= 0, f"{name} is wider than the window by {self.overflow()} px"
        assert not self.complaints, (name, self.complaints)

    def axe(self) -> list[list[Any]]:
        """Return axe's findings: impact, rule, places."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(f"{(VENDOR / 'axe' / 'axe.min.js').read_text()};0")
        found: list[list[Any]] = self.page.evaluate(AXE)
        return found

    def overflow(self) -> int:
        """Return how many pixels the page is wider than the window."""
        script = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        width: int = self.page.evaluate(script)
        return width

    def hidden_tabs(self) -> list[str]:
        """Return the current tabs of which a part lies beyond the edge of the window."""
        return [
            tab.inner_text()
            for tab in self.page.locator(".lw-tabs [aria-current]").all()
            if (box := tab.bounding_box())
            and (box["x"] < 0 or box["x"] + box["width"] > self.width)
        ]

    def close(self) -> None:
        """Close the window."""
        self.context.close()
