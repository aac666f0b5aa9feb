"""Views of sign-in, re-authentication and sign-out."""

from typing import Any

from django.contrib.auth import BACKEND_SESSION_KEY, authenticate, login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from portal.access.fresh import is_fresh, remember_authentication
from portal.access.sent import kept_form
from portal.lake.errors import PortalError
from portal.people.backends import OidcBackend
from portal.people.lockout import Try, address_of, try_begins, try_succeeded
from portal.people.login_methods import ways_shown
from portal.ui.forms import LoginForm, PasswordForm, ThemeForm
from portal.ui.frame.addresses import login_address, own_address
from portal.ui.frame.context import THEME_COOKIE

ONE_YEAR_SECONDS = 31_536_000


class Login(LoginView):
    """The sign-in page."""

    template_name = "portal/login.html"
    authentication_form = LoginForm
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the ways in that this deployment has."""
        ways, problem = ways_shown()
        signed_out = bool(ways.oidc) and "signed_out" in self.request.GET
        return super().get_context_data(
            ways=ways, ways_problem=problem, signed_out=signed_out, **kwargs
        )

    def form_valid(self, form: LoginForm) -> HttpResponse:  # type: ignore[override]  # our own form
        """Sign in and note that the password was given now."""
        response = super().form_valid(form)
        remember_authentication(self.request, timezone.now())
        return response


@method_decorator(login_not_required, name="dispatch")
class Logout(LogoutView):
    """Signing out; the log-in page then says what single sign-on still remembers."""

    http_method_names = ["post", "options"]

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """End the session."""
        was_oidc = came_by_oidc(request)
        response = super().post(request, *args, **kwargs)
        if not was_oidc:
            return response
        return HttpResponseRedirect(f"{reverse('ui:login')}?signed_out=1")


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def fresh_login(request: HttpRequest) -> HttpResponse:
    """Ask who it is again, the way the person came in, then go back to where it was needed.

    A form that waits for the proof is shown after it, for the person to send again.
    """
    back = own_address(request, request.POST.get("next") or request.GET.get("next", ""))
    sent = kept_form(request, timezone.now())
    if sent and request.method == "GET" and is_fresh(request, timezone.now()):
        return render(request, "portal/send_again.html", {"sent": sent, "next": back})
    then = login_address("ui:fresh-login", back=back) if sent else back
    if came_by_oidc(request):
        ways, problem = ways_shown()
        context = {"next": back, "then": then, "ways": ways, "ways_problem": problem}
        context |= {"by_oidc": True, "sent": sent}
        return render(request, "portal/fresh_login.html", context)
    form = PasswordForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            if _is_the_same(request, form.cleaned_data["password"]):
                return HttpResponseRedirect(then)
            form.add_error("password", "This is not your password. Try again.")
        except PortalError as error:
            form.add_error("password", error.message)
    return render(request, "portal/fresh_login.html", {"form": form, "next": back, "sent": sent})


def _is_the_same(request: HttpRequest, password: str) -> bool:
    """Look at the password of the person who is signed in; a right one makes the login fresh."""
    now, name = timezone.now(), request.user.get_username()
    tried = Try(name, address_of(request), again=True)
    try_begins(tried, now=now)
    user = authenticate(request, username=name, password=password)
    if user is None or user.pk != request.user.pk:
        return False
    try_succeeded(tried, now=now)
    # A full login, not only a new key: a role that was lost with this log-in ended every session.
    login(request, user)
    remember_authentication(request, now)
    return True


def came_by_oidc(request: HttpRequest) -> bool:
    """Say whether the person came in by the OpenID Connect provider."""
    backend = f"{OidcBackend.__module__}.{OidcBackend.__qualname__}"
    return bool(request.session.get(BACKEND_SESSION_KEY) == backend)


@login_not_required
@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Remember light or dark in a cookie of this browser."""
    response = HttpResponseRedirect(own_address(request, request.POST.get("next", "")))
    form = ThemeForm(request.POST)
    if form.is_valid():
        response.set_cookie(
            THEME_COOKIE,
            form.cleaned_data["theme"],
            max_age=ONE_YEAR_SECONDS,
            samesite="Lax",
            secure=request.is_secure(),
            httponly=True,
        )
    return response
