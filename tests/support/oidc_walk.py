"""One person's browser between the portal and the provider: follows the real redirects."""

import re
from collections.abc import Callable
from html import unescape
from urllib.parse import parse_qs, urljoin, urlsplit

import requests
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import reverse

Change = Callable[[str], str]


def _unchanged(address: str) -> str:
    return address


class Walker:
    """Walks the code flow: `client` is the browser at the portal, `http` at the provider."""

    def __init__(self, username: str, password: str) -> None:
        self.username, self.password = username, password
        self.client = Client()
        self.http = requests.Session()
        self.n_asked = 0

    def begin(self, back: str = "") -> str:
        """Begin at the portal; give where it sends the browser."""
        answer = self.client.get(reverse("ui:sign-in-begin"), {"next": back} if back else {})
        assert answer.status_code == 302, answer.content
        return answer["Location"]

    def at_provider(self, address: str) -> str:
        """Log in there if asked; give the address that leads back to the portal."""
        answer = self.http.get(address, allow_redirects=False, timeout=20)
        while "/login/sso/back/" not in answer.headers.get("Location", ""):
            if answer.is_redirect:
                step = urljoin(answer.url, answer.headers["Location"])
                answer = self.http.get(step, allow_redirects=False, timeout=20)
                continue
            assert answer.status_code == 200, answer.text[:2000]
            answer = self._log_in(answer)
        return answer.headers["Location"]

    def _log_in(self, page: requests.Response) -> requests.Response:
        self.n_asked += 1
        hidden = {
            name: unescape(value)
            for name, value in re.findall(
                r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text
            )
        }
        form = {**hidden, "username": self.username, "password": self.password}
        return self.http.post(
            page.url, data=form, headers={"Referer": page.url}, allow_redirects=False, timeout=20
        )

    def back(self, address: str) -> HttpResponseBase:
        """Come back to the portal with what the provider gave."""
        parts = urlsplit(address)
        return self.client.get(f"{parts.path}?{parts.query}")

    def walk(
        self, *, back: str = "", out: Change = _unchanged, home: Change = _unchanged
    ) -> HttpResponseBase:
        """Walk the whole way; `out` and `home` change the addresses that the browser carries."""
        return self.back(home(self.at_provider(out(self.begin(back)))))

    def said(self) -> str:
        """Return the text of the log-in page, with what went wrong."""
        page = self.client.get(reverse("ui:login")).content.decode()
        return unescape(re.sub(r"<[^>]+>", " ", page))

    @property
    def is_in(self) -> bool:
        """Whether the person is signed in at the portal."""
        return "_auth_user_id" in self.client.session


def query_of(address: str) -> dict[str, str]:
    """Return the parameters of an address."""
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
