"""Addresses of the pages, from each capability."""

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

app_name = "lifecycle"

urlpatterns: list[URLPattern] = [
    *answers.ui_urlpatterns,
    *databases.ui_urlpatterns,
    *drop.ui_urlpatterns,
    *enrollment.ui_urlpatterns,
    *guard.ui_urlpatterns,
    *inventory.ui_urlpatterns,
    *notices.ui_urlpatterns,
    *policies.ui_urlpatterns,
    *relocation.ui_urlpatterns,
    *restore.ui_urlpatterns,
    *restore_tests.ui_urlpatterns,
    *rules.ui_urlpatterns,
]
