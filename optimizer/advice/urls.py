"""Addresses of `optimizer.advice`: pages and API."""

from django.urls import URLPattern, path

from optimizer.advice import api
from optimizer.advice.ui import pages

ui_urlpatterns: list[URLPattern] = [
    path("advice/", pages.advice, name="advice"),
    path("advice/<int:advice_id>/", pages.shown, name="advice-shown"),
    path("advice/<int:advice_id>/apply/", pages.apply, name="advice-apply"),
    path("advice/<int:advice_id>/try/", pages.try_it, name="advice-try"),
    path("advice/<int:advice_id>/dismiss/", pages.dismiss, name="advice-dismiss"),
    path("advice/<int:advice_id>/roll-back/", pages.roll_back, name="advice-roll-back"),
    path("tables/<int:table_id>/advice/", pages.ask, name="advice-ask"),
]

api_urlpatterns: list[URLPattern] = [
    path("advice/", api.AdviceList.as_view(), name="advice"),
    path("advice/<int:advice_id>/", api.AdviceDetail.as_view(), name="advice-shown"),
    path("advice/<int:advice_id>/apply/", api.AdviceApply.as_view(), name="advice-apply"),
    path("advice/<int:advice_id>/try/", api.AdviceTry.as_view(), name="advice-try"),
    path("advice/<int:advice_id>/dismiss/", api.AdviceDismiss.as_view(), name="advice-dismiss"),
    path(
        "advice/<int:advice_id>/roll-back/", api.AdviceRollBack.as_view(), name="advice-roll-back"
    ),
    path("tables/<int:table_id>/advice/", api.TableAdvice.as_view(), name="advice-ask"),
]
