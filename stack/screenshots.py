"""Makes the pictures of the README from a demo that is being served: `python -m stack.screenshots`.

`PORT` is the demo's, as for `./lakewarden demo`. Pictures go to docs/images.
"""

import os
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from stack.errors import StackError
from stack.people import DEMO_PASSWORD
from stack.places import REPO

IMAGES = REPO / "docs" / "images"
WIDTH, HEIGHT = 1280, 800
# (name of the picture, who looks, address, text of a link to follow there)
PICTURES = (
    ("home", "ada", "/", None),
    ("expiring", "alice", "/lifecycle/expiring/", None),
    ("iceberg", "ada", "/optimizer/tables/", "a:has-text('clicks_live')"),
    ("hudi", "ada", "/optimizer/hudi/", "a:has-text('carts_ill')"),
)


def take(page: Page, site: str, folder: Path) -> list[Path]:
    """Take every picture, each as the person who would look at the page."""
    made, signed_in = [], ""
    for name, person, address, follow in PICTURES:
        if person != signed_in:
            page.context.clear_cookies()
            page.goto(f"{site}/login/")
            page.get_by_label("User name").fill(person)
            page.get_by_label("Password").fill(DEMO_PASSWORD)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_load_state("networkidle")
            signed_in = person
        answer = page.goto(site + address)
        if answer is None or not answer.ok:
            raise StackError(f"{site}{address} does not answer with a page: is the demo served?")
        if follow is not None:
            page.locator(follow).first.click()
        page.wait_for_load_state("networkidle")
        made.append(folder / f"{name}.png")
        page.screenshot(path=made[-1])
    return made


def main() -> int:
    """Take the pictures of the demo that is being served."""
    site = f"http://127.0.0.1:{os.environ.get('PORT', '8000')}"
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_context(
            viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light"
        ).new_page()
        for path in take(page, site, IMAGES):
            sys.stdout.write(f"{path.relative_to(REPO)}\n")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
