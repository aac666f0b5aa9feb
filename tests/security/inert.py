"""Reads the text that a page shows, and detects any that became active in a browser.

A reader after the HTML standard's own tokenizer; it shares nothing with the templates.
"""

import json
from html.parser import HTMLParser
from urllib.parse import unquote

from django.conf import settings

# What the product's own pages are made of; any other element came from somebody's text.
NEVER = {"iframe", "object", "embed", "base", "style", "applet", "frame", "math", "template"}
LEADING = {"href", "src", "action", "formaction", "hx-get", "hx-post", "poster", "data", "srcdoc"}
# Where an address of the site may lead; mails and calendars carry the whole of it.
OURS = ("/", "?", "#", f"{settings.LAKEWARDEN_BASE_URL}/")
MARK = "lw7"


class Page(HTMLParser):
    """A page as a browser would take it apart."""

    def __init__(self, html: str, *, is_mail: bool = False) -> None:
        super().__init__(convert_charrefs=True)
        self.is_mail = is_mail
        self.wrong: list[str] = []
        self.addresses: list[str] = []
        self._data: list[str] = []
        self._script: dict[str, str | None] | None = None
        self.feed(html)
        self.close()

    @property
    def text(self) -> str:
        """All that a person reads, and what stands in titles and fields."""
        return "".join(self._data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        self._script = said if tag == "script" else None
        if tag in NEVER or MARK in tag or (tag == "meta" and "http-equiv" in said):
            self.wrong.append(f"<{tag}>")
        if tag == "script" and (self.is_mail or not self._is_ours(said)):
            self.wrong.append(f"<script {said}>")
        for name, value in attrs:
            self._see(tag, name, value or "")

    def _see(self, tag: str, name: str, value: str) -> None:
        if name.startswith("on") or MARK in name or (name == "style" and not self.is_mail):
            self.wrong.append(f"<{tag} {name}={value[:60]!r}>")
        if name in LEADING:
            self.addresses.append(value)
            if not value.startswith(OURS) or value.startswith(("//", "/\\")):
                self.wrong.append(f"<{tag} {name}={value[:60]!r}>")
        self._data.append(f"\n{unquote(value) if name in LEADING else value}\n")

    @staticmethod
    def _is_ours(said: dict[str, str | None]) -> bool:
        is_file = (said.get("src") or "").startswith("/static/")
        return is_file or said.get("type") == "application/json"

    def handle_data(self, data: str) -> None:
        if self._script is None:
            self._data.append(data)
        elif "src" not in self._script and data.strip():
            json.loads(data)

    def handle_endtag(self, tag: str) -> None:
        self._script = None

    def handle_comment(self, data: str) -> None:
        if MARK in data:
            self.wrong.append(f"<!--{data[:60]}-->")

    def handle_decl(self, decl: str) -> None:
        if decl.lower() != "doctype html":
            self.wrong.append(f"<!{decl[:60]}>")

    def handle_pi(self, data: str) -> None:
        self.wrong.append(f"<?{data[:60]}>")

    def unknown_decl(self, data: str) -> None:
        self.wrong.append(f"<![{data[:60]}]>")
