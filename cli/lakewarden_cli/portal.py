"""Sends requests to the portal's API, signed in as a person or with an API token."""

from typing import Any
from urllib.parse import quote, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

from lakewarden_cli.errors import CliError, SignInError, UnreachableError, refusal
from lakewarden_cli.sessions import Session, write_session

TIMEOUT_SECONDS = 60
_RETRIES = Retry(
    total=5,
    backoff_factor=0.5,
    status_forcelist=(429, 502, 503, 504),
    allowed_methods=("GET",),
    raise_on_status=False,
)
# What schedulers send may be sent twice: a table that is reported again waits once.
_REPEATABLE = ("/api/refresh/", "/api/readiness/")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_LOGIN, _FRESH_LOGIN = "/login/", "/login/again/"


class Portal:
    """One portal as one person or program sees it; cookies are kept when they change."""

    def __init__(self, session: Session, *, token: str = "", allow_http: bool = False) -> None:
        _check_address(session.url, allow_http=allow_http)
        self.session = session
        self._token = token
        self._http = requests.Session()
        self._http.cookies.update(session.cookies)
        for scheme in ("http://", "https://"):
            self._http.mount(scheme, HTTPAdapter(max_retries=_RETRIES))
        for path in _REPEATABLE:
            repeated = HTTPAdapter(max_retries=_RETRIES.new(allowed_methods=None))
            self._http.mount(f"{session.url}{path}", repeated)

    def get(self, path: str, **params: object) -> Any:
        """Return the answer to a GET; parameters that are None or empty are left out."""
        return self._call("GET", path, params=_given(params))

    def post(self, path: str, body: dict[str, Any], **params: object) -> Any:
        """Return the answer to a POST; sent once, but for what schedulers may repeat."""
        return self._call("POST", path, params=_given(params), body=body)

    def login(self, username: str, password: str) -> None:
        """Sign in, or prove again who one is, and keep the session.

        Raises:
            SignInError: the portal did not take the password.
        """
        is_again = self.session.username == username and bool(self.session.cookies)
        if not (is_again and self._submit(_FRESH_LOGIN, {"password": password})):
            self._http.cookies.clear()
            if not self._submit(_LOGIN, {"username": username, "password": password}):
                raise SignInError(f"The portal did not take the password of {username}.")
        self.session.username = username
        self._keep()

    def logout(self) -> None:
        """End the session there and here."""
        if self.session.cookies:
            self._submit("/logout/", {})
        self.session.username, self.session.cookies = "", {}
        write_session(self.session)

    def _submit(self, path: str, fields: dict[str, str]) -> bool:
        """Send a form of the portal; whether it led on, as a form that is taken does."""
        if path != "/logout/":
            self._request("GET", path)
        csrf = self._http.cookies.get("csrftoken") or ""
        sent = self._request("POST", path, data={**fields, "csrfmiddlewaretoken": csrf})
        return sent.status_code in (302, 303)

    def _call(
        self,
        method: str,
        path: str,
        *,
        params: dict[str, str],
        body: dict[str, Any] | None = None,
    ) -> Any:
        answer = self._request(method, path, params=params, json=body)
        if answer.is_redirect:
            where = answer.headers.get("Location", "")
            raise CliError(
                f"The portal sends on to {where}, which is not followed.",
                next_step="Give that address by --url.",
            )
        try:
            data = answer.json()
        except ValueError as error:
            raise UnreachableError(
                f"{self.session.url} answered {answer.status_code} and no JSON.",
                next_step="Is it the address of a Lakewarden portal?",
            ) from error
        if not answer.ok:
            raise refusal(answer.status_code, data if isinstance(data, dict) else {})
        if not self._token:
            self._keep()
        return data

    def _request(self, method: str, path: str, **sent: Any) -> requests.Response:
        headers = {"Accept": "application/json", "Referer": f"{self.session.url}/"}
        if path in (_LOGIN, _FRESH_LOGIN, "/logout/"):
            headers["Accept"] = "text/html"
        elif self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        elif method != "GET":
            headers["X-CSRFToken"] = self._http.cookies.get("csrftoken") or ""
        try:
            return self._http.request(
                method,
                f"{self.session.url}{path}",
                headers=headers,
                timeout=TIMEOUT_SECONDS,
                allow_redirects=False,  # a redirect might carry the token to somebody else
                **sent,
            )
        except requests.RequestException as error:
            reason = type(error).__name__
            raise UnreachableError(
                f"{self.session.url} does not answer ({reason}).",
                next_step="Check the address and the network; for a write, see what the portal"
                " recorded before you send it again.",
            ) from error

    def _keep(self) -> None:
        cookies = {cookie.name: cookie.value or "" for cookie in self._http.cookies}
        if cookies != self.session.cookies:
            self.session.cookies = cookies
        write_session(self.session)


def api(*parts: str) -> str:
    """Return the address of an API resource; each part is quoted, slashes included."""
    return "/api/v1/" + "".join(f"{quote(part, safe='')}/" for part in parts)


def _given(params: dict[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in params.items() if value not in (None, "")}


def _check_address(url: str, *, allow_http: bool) -> None:
    """Refuse what is no address of a portal, and plain HTTP to another machine."""
    if not url:
        raise SignInError(
            "No portal is named.",
            next_step="Give --url or LAKEWARDEN_URL, or run `lakewarden login`.",
        )
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CliError(f"{url} is no address of a portal.", next_step="Write https://host[:port].")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK and not allow_http:
        raise CliError(
            f"{url} would send your password or token unencrypted.",
            next_step="Use https, or --allow-http in a network that you trust.",
        )
