"""Views of sign-in and re-authentication by single sign-on.

What the provider needs back is kept in the session under its state, so a second tab does not
disturb the first. Everything that goes wrong is said on the page where it began.
"""

from typing import Any

from django.contrib import messages
from django.contrib.auth import authenticate, login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from portal.access.fresh import forget_authentication, remember_authentication
from portal.access.models import User
from portal.connectors.oidc import Begun, Oidc
from portal.connectors.sign_in_config import OidcConfig
from portal.lake.errors import NotAllowed, NotVisible, PortalError
from portal.people.login_methods import sign_in_config
from portal.ui.frame.addresses import login_address, own_address, whole_address

_KEPT = "lw_oidc"
MOST_KEPT = 5
LONGEST_AWAY_SECONDS = 900


@login_not_required
@never_cache
@require_GET
def begin(request: HttpRequest) -> HttpResponse:
    """Send the person to the provider; who is signed in already is asked to prove it again."""
    back = own_address(request, request.GET.get("next", ""))
    is_proof = request.user.is_authenticated
    try:
        url, begun = _provider(request).begin(is_proof=is_proof, now=timezone.now())
    except PortalError as error:
        return _said(request, error, back=back)
    kept: dict[str, Any] = request.session.get(_KEPT, {})
    kept[begun.state] = {"begun": begun.as_dict(), "back": back}
    request.session[_KEPT] = dict(list(kept.items())[-MOST_KEPT:])
    return HttpResponseRedirect(url)


@login_not_required
@never_cache
@require_GET
def callback(request: HttpRequest) -> HttpResponse:
    """Take the person back from the provider."""
    kept: dict[str, Any] = request.session.get(_KEPT, {})
    entry = kept.pop(request.GET.get("state", ""), None)
    request.session[_KEPT] = kept
    back = entry["back"] if entry else reverse("ui:home")
    try:
        _take_back(request, entry)
    except PortalError as error:
        return _said(request, error, back=back)
    return HttpResponseRedirect(own_address(request, back))


@login_not_required
@never_cache
@require_GET
def out(request: HttpRequest) -> HttpResponse:
    """Send who has signed out here to the provider's own sign-out page."""
    try:
        back = whole_address(reverse("ui:login"))
        address = _provider(request).log_out_address(back=back)
    except PortalError as error:
        return _said(request, error, back="")
    return HttpResponseRedirect(address or reverse("ui:login"))


def _provider(request: HttpRequest) -> Oidc:
    return Oidc(_oidc_config(), redirect_uri=whole_address(reverse("ui:sign-in-back")))


def _oidc_config() -> OidcConfig:
    config = sign_in_config().oidc
    if config is None:
        raise NotVisible("sign_in.no_oidc", "Single sign-on is not set up here.")
    return config


def _take_back(request: HttpRequest, entry: dict[str, Any] | None) -> None:
    """Verify what the provider sent and sign the person in."""
    now = timezone.now()
    if entry is None or now.timestamp() - entry["begun"]["at"] > LONGEST_AWAY_SECONDS:
        raise NotAllowed(
            "oidc.state",
            "This log-in was not begun here, was used already, or took longer than 15 minutes. "
            "Begin again.",
        )
    begun, code = Begun.of(entry["begun"]), request.GET.get("code", "")
    if not code:
        reason = " ".join(request.GET.get("error_description", "").split())[:200]
        word = request.GET.get("error", "no reason given")[:60]
        raise NotAllowed("oidc.denied", f"The log-in server refused: {word}. {reason}".strip())
    identity = _provider(request).finish(begun, code=code, now=now)
    before = request.user
    user = authenticate(request, identity=identity)
    if not isinstance(user, User):
        raise NotAllowed("oidc.nobody", "No account was found for you. Tell an operator.")
    if begun.is_proof and user.pk != before.pk:
        raise NotAllowed(
            "oidc.other_person",
            f"You are signed in as {before.get_username()}, but proved to be {user.username}. "
            "Sign out first.",
        )
    login(request, user)
    if identity.authenticated_at is None:
        forget_authentication(request)
    else:
        remember_authentication(request, identity.authenticated_at)


def _said(request: HttpRequest, error: PortalError, *, back: str) -> HttpResponse:
    """Say on the log-in page (or the page of the proof) what went wrong."""
    messages.error(request, error.message, extra_tags=error.code)
    name = "ui:fresh-login" if request.user.is_authenticated else "ui:login"
    return HttpResponseRedirect(login_address(name, back=back))
