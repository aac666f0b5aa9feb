"""Pages behind the links by which mails of a kind are turned off."""

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from portal.lake.errors import RuleViolation
from portal.notices.muting import mail_kind_mute, muted_by
from portal.notices.muting_links import (
    ONE_CLICK,
    muting_link_read,
    one_click_mute,
    one_click_page,
)
from portal.ui.frame.context import person


@require_http_methods(["GET", "POST"])
@never_cache
def mail_off(request: HttpRequest, token: str) -> HttpResponse:
    """Show which mails a link would turn off (GET never acts), and turn them off (POST)."""
    user = person(request)
    link, kind = muting_link_read(token, user=user, today=timezone.localdate())
    is_off = kind.name in muted_by(user)
    if request.method == "POST" and not is_off:
        mail_kind_mute(user, kind.name)
        messages.success(request, f"'{kind.title}' is turned off. Turn it on again here.")
        return HttpResponseRedirect(f"{reverse('ui:profile')}#mails")
    context = {"link": link, "kind": kind, "is_off": is_off}
    return render(request, "portal/mail_off.html", context)


@login_not_required
@csrf_exempt  # a mail program posts without a cookie; the signed link is what proves it
@require_http_methods(["GET", "POST"])
@never_cache
def mail_one_click(request: HttpRequest, token: str) -> HttpResponse:
    """Turn off a kind of mail for a mail program (RFC 8058); a person is led to the page.

    Raises:
        RuleViolation: `mail.one_click`, the body is not the one that a mail program sends.
    """
    if request.method == "GET":
        return HttpResponseRedirect(one_click_page(token))
    name, value = ONE_CLICK
    if request.POST.get(name) != value:
        raise RuleViolation(
            "mail.one_click", f"A mail program sends {name}={value}; open the link to choose."
        )
    kind = one_click_mute(token, now=timezone.now())
    return HttpResponse(f"'{kind.title}' is turned off.\n", content_type="text/plain")
