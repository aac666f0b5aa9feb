"""How does a person come in, prove again who they are, and go out?"""

from django.contrib.auth import authenticate
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from portal.access.fresh import remember_authentication
from portal.ui.forms import LoginForm, PasswordForm, ThemeForm
from portal.ui.frame import THEME_COOKIE

ONE_YEAR_SECONDS = 31_536_000


class Login(LoginView):
    """The sign-in page."""

    template_name = "portal/login.html"
    authentication_form = LoginForm
    redirect_authenticated_user = True

    def form_valid(self, form: LoginForm) -> HttpResponse:  # type: ignore[override]  # our own form
        """Sign in and note that the password was given now."""
        response = super().form_valid(form)
        remember_authentication(self.request, timezone.now())
        return response


@never_cache
@sensitive_post_parameters("password")
@login_required
@require_http_methods(["GET", "POST"])
def fresh_login(request: HttpRequest) -> HttpResponse:
    """Ask for the password again, then go back to where it was needed."""
    form = PasswordForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        name = request.user.get_username()
        password = form.cleaned_data["password"]
        if authenticate(request, username=name, password=password) == request.user:
            request.session.cycle_key()
            remember_authentication(request, timezone.now())
            return HttpResponseRedirect(_own_address(request, request.POST.get("next", "")))
        form.add_error("password", "This is not your password. Try again.")
    context = {"form": form, "next": _own_address(request, request.GET.get("next", ""))}
    if request.method == "POST":
        context["next"] = _own_address(request, request.POST.get("next", ""))
    return render(request, "portal/fresh_login.html", context)


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Remember light or dark in a cookie of this browser."""
    response = HttpResponseRedirect(_own_address(request, request.POST.get("next", "")))
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


def _own_address(request: HttpRequest, address: str) -> str:
    """Give `address` if it lies on this site, else the home page (no open redirect)."""
    safe = url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return address if safe else reverse("ui:home")
