"""Addresses of the API, from each capability."""

from django.urls import URLPattern

from lifecycle.answers import urls as answers
from lifecycle.databases import urls as databases
from lifecycle.drop import urls as drop
from lifecycle.enrollment import urls as enrollment
from lifecycle.guard import urls as guard
from lifecycle.inventory import urls as inventory
from lifecycle.notices import urls as notices
from lifecycle.policies import urls as policies
from lifecycle.relocation import urls as relocation
from lifecycle.restore import urls as restore
from lifecycle.restore_tests import urls as restore_tests
from lifecycle.rules import urls as rules

app_name = "lifecycle-api"

urlpatterns: list[URLPattern] = [
    *answers.api_urlpatterns,
    *databases.api_urlpatterns,
    *drop.api_urlpatterns,
    *enrollment.api_urlpatterns,
    *guard.api_urlpatterns,
    *inventory.api_urlpatterns,
    *notices.api_urlpatterns,
    *policies.api_urlpatterns,
    *relocation.api_urlpatterns,
    *restore.api_urlpatterns,
    *restore_tests.api_urlpatterns,
    *rules.api_urlpatterns,
]
