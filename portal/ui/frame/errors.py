"""Error responses for people and programs: the code, what happened, and what to do next.

The outer door: expected errors (PortalError) become a page or JSON with their own status; a lost
database is said to be lost; anything else is logged with an id and answered without a traceback.
"""

import logging
import sys
import uuid
from collections.abc import Callable
from typing import Any

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from rest_framework.response import Response
from rest_framework.views import exception_handler

from portal.access.middleware import ForeignSite
from portal.access.sent import sent_form
from portal.lake.errors import (
    Busy,
    DataSafetyError,
    ExternalFailure,
    NotAllowed,
    NotVisible,
    PortalError,
    RuleViolation,
    StaleState,
    TooMuch,
)
from portal.ui.frame.context import THEME_COOKIE, THEMES
from portal.ui.frame.lakes import forget_object

log = logging.getLogger("lakewarden.errors")

_TITLES: dict[type[PortalError], tuple[str, str]] = {
    TooMuch: (
        "Too much at once",
        "Choose fewer, or send it in parts.",
    ),
    RuleViolation: (
        "That cannot be done as asked",
        "Correct what the message names, then try again.",
    ),
    NotVisible: (
        "Not found",
        "It does not exist, or you may not see it. Ask an admin if you should.",
    ),
    NotAllowed: ("You may not do this", "Ask somebody with the right to do it."),
    StaleState: (
        "Somebody was first",
        "What you saw has changed since. Open the page again and read it before you decide.",
    ),
    Busy: ("Too busy just now", "Nothing was done. Ask the same again after the time given."),
    ExternalFailure: (
        "Another system did not answer",
        "Nothing was changed. Try again in a minute; if it stays, tell an operator.",
    ),
    DataSafetyError: (
        "Stopped to keep data safe",
        "The run was stopped and nothing is dropped on by itself. Tell an operator the code below.",
    ),
}

_METHOD_TITLE = "Nothing is shown at this address"

_LOST_DATABASE = (OperationalError, InterfaceError)

GetResponse = Callable[[HttpRequest], HttpResponse]


class PortalErrorMiddleware:
    """Turn errors that a view raises into pages (or JSON below `/api/`)."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on; a method that an address does not take is answered in words."""
        response = self.get_response(request)
        if response.status_code == 405 and not getattr(response, "content", b"-"):
            return _method_refused(request, response)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answer an expected error; leave others to handler500."""
        if isinstance(error, _LOST_DATABASE):
            return _database_lost(request, error)
        if not isinstance(error, PortalError):
            return None
        _log(error, request.path)
        if request.path.startswith("/api/"):
            return JsonResponse(as_json(error), status=error.status)
        return error_page(request, error)


def as_json(error: PortalError) -> dict[str, Any]:
    """Return the API's form of an error."""
    _, step = _words(error)
    return {**error.as_dict(), "next_step": step}


def error_page(
    request: HttpRequest, error: PortalError, *, own_title: str = "", own_step: str = ""
) -> HttpResponse:
    """Return the page of an expected error, with words of its own where its kind's do not fit."""
    title, step = _words(error)
    context: dict[str, Any] = {
        "code": error.code,
        "title": own_title or title,
        "message": error.message,
        "step": own_step or step,
        "changes": error.fields.get("changes", ""),
        "page": error.fields.get("page", ""),
    }
    if request.method == "POST" and error.fields.get("field") == "reason":
        context["sent"] = sent_form(request)
    answer = _page(request, error.status, context)
    if isinstance(error, Busy):
        answer["Retry-After"] = str(error.after_seconds)
    return answer


def api_exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Answer an API error in one form: code, message, fields, next_step."""
    if isinstance(error, PortalError):
        _log(error, str(context.get("view")))
        again = {"Retry-After": str(error.after_seconds)} if isinstance(error, Busy) else None
        return Response(as_json(error), status=error.status, headers=again)
    response = exception_handler(error, context)
    if response is not None:
        response.data = _rest_error(response)
    return response


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer an address that nothing stands behind."""
    return _plain(request, NotVisible("page.missing", "There is nothing at this address for you."))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer what Django refuses by itself."""
    message = str(exception) if isinstance(exception, ForeignSite) else "This is not open to you."
    return _plain(request, NotAllowed("page.forbidden", message))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that Django could not read, or that is larger than it takes."""
    if isinstance(exception, RequestDataTooBig | TooManyFieldsSent | TooManyFilesSent):
        message = "The request is larger than the portal takes in at once; nothing was done."
        return _plain(request, TooMuch("page.too_much", message))
    error = RuleViolation("page.bad_request", "The request could not be read.")
    step = "Check the address, or open the page again and send its form once more."
    return _plain(request, error, title="The request could not be read", step=step)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form without the right token."""
    return _plain(
        request,
        NotAllowed(
            "form.token",
            "The form was too old or came from elsewhere, so nothing was done. "
            "Open the page again and send it once more.",
        ),
        title="The form was not taken",
        step="Open the page with the form again and send it from there. If that is refused too, "
        "let your browser keep cookies of this site.",
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer a mistake of ours: an id to quote, no traceback."""
    error = sys.exception()
    if isinstance(error, _LOST_DATABASE):  # raised before a view was reached
        return _database_lost(request, error)
    mark = uuid.uuid4().hex[:12]
    log.error("unexpected error %s at %s", mark, request.path)
    title = "The portal made a mistake"
    message = "Something went wrong that should not. Nothing more is known to this page."
    step = f"Tell an operator the id {mark}; it is in the log with the details."
    body = {"code": "portal.bug", "message": message, "fields": {"id": mark}, "next_step": step}
    return _broken(request, 500, title, body)


def _method_refused(request: HttpRequest, refused: HttpResponse) -> HttpResponse:
    """Answer a method that an address does not take; browsers show an empty answer as broken."""
    allowed = refused.headers.get("Allow", "")
    message = f"The address takes {allowed or 'other methods'}, not {request.method}."
    if request.method in ("GET", "HEAD") and "POST" in allowed:
        message += " It belongs to a button or a form, and is not opened by itself."
    step = "Nothing was done. Go to the page that has the button, or begin at Home."
    if request.path.startswith("/api/"):
        body = {"code": "api.405", "message": message, "fields": {}, "next_step": step}
        answer: HttpResponse = JsonResponse(body, status=405)
    else:
        context = {"code": "page.method", "title": _METHOD_TITLE, "message": message, "step": step}
        answer = _page(request, 405, context)
    answer.headers["Allow"] = allowed
    return answer


def _database_lost(request: HttpRequest, error: BaseException) -> HttpResponse:
    """Answer for a database that is away, too slow, or ended one of two that met (a deadlock)."""
    log.error("the database failed at %s: %s", request.path, error)
    body = {
        "code": "portal.database",
        "message": "The portal's database did not answer, or broke off what was asked.",
        "fields": {"service": "portal_db", "retryable": "True"},
        "next_step": "What was broken off was not done. Reload in a minute, then repeat it; "
        "if it stays, tell an operator.",
    }
    return _broken(request, 503, "The portal's database did not answer", body)


def _broken(
    request: HttpRequest, status: int, title: str, body: dict[str, Any]
) -> HttpResponse | JsonResponse:
    """Answer without the frame: it reads the database, and that may be what is broken."""
    if request.path.startswith("/api/"):
        return JsonResponse(body, status=status)
    theme = request.COOKIES.get(THEME_COOKIE, "auto")
    context = {
        "title": title,
        "message": body["message"],
        "step": body["next_step"],
        "code": body["code"],
        "status": status,
        "theme": theme if theme in THEMES else "auto",
    }
    return HttpResponse(render_to_string("ui/broken.html", context), status=status)


def _plain(
    request: HttpRequest, error: PortalError, *, title: str = "", step: str = ""
) -> HttpResponse:
    if request.path.startswith("/api/"):
        own = {"next_step": step} if step else {}
        return JsonResponse({**as_json(error), **own}, status=error.status)
    return error_page(request, error, own_title=title, own_step=step)


def _words(error: PortalError) -> tuple[str, str]:
    if isinstance(error, Busy):
        title, _ = _TITLES[Busy]
        seconds = f"{error.after_seconds} second{'' if error.after_seconds == 1 else 's'}"
        return title, f"Nothing was done. Ask the same again in {seconds}."
    for kind, words in _TITLES.items():
        if isinstance(error, kind):
            return words
    return "Something went wrong", "Tell an operator the code below."


def _rest_error(response: Response) -> dict[str, Any]:
    detail = response.data
    fields: dict[str, Any] = {}
    code = f"api.{response.status_code}"
    message = "The request is not valid; see the fields."
    if isinstance(detail, dict) and set(detail) == {"detail"}:
        message = str(detail["detail"])
        said = str(getattr(detail["detail"], "code", ""))
        code = said if "." in said else code  # the framework's own codes have no dots
        if said == "not_authenticated":
            code, message = "api.not_signed_in", "You are not signed in, or your session ended."
    elif isinstance(detail, dict):
        fields = {key: str(value) for key, value in detail.items()}
    elif isinstance(detail, list):
        message = "; ".join(str(part) for part in detail)
    sign_in = "Sign in first; a program sends a token from the page API tokens."
    steps = {
        401: sign_in,
        403: "Ask somebody with the right to do it.",
        404: "Check the address; it may also be one you may not see.",
        405: "Use another method; see the API page.",
    }
    return {
        "code": code,
        "message": message,
        "fields": fields,
        "next_step": sign_in
        if code == "api.not_signed_in"
        else steps.get(response.status_code, "Correct the request and send it again."),
    }


def _log(error: PortalError, place: str) -> None:
    write = log.error if error.status >= 500 else log.info
    write("%s at %s: %s", error.code, place, error.message)


def _page(request: HttpRequest, status: int, context: dict[str, Any]) -> HttpResponse:
    forget_object(request)
    return render(request, "ui/error.html", {"status": status, **context}, status=status)
