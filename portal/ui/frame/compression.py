"""Compresses what pages, the API and, where no compressed copy lies ready, static files answer."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

KINDS = frozenset({"text/html", "application/json", "text/css", "text/javascript", "image/svg+xml"})
_SAFE = frozenset({"GET", "HEAD"})


class CompressMiddleware(GZipMiddleware):
    """Compress answers to reading requests.

    From the length of a compressed answer a secret in it could be guessed, by whoever can have
    texts of theirs shown beside it (BREACH). A secret, such as a new API token, is only ever in the
    answer to a POST, which stays as it is; every answer masks the CSRF token differently, and
    Django adds a random length.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Return the answer, compressed where it gains by it."""
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        if request.method not in _SAFE or kind not in KINDS:
            return response
        return super().process_response(request, response)
