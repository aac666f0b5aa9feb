"""Addresses of the search."""

from django.urls import path

from portal.search.api.views import Search
from portal.search.ui.pages import search

app_name = "search"

urlpatterns = [
    path("search/", search, name="search"),
    path("api/v1/search/", Search.as_view(), name="api-search"),
]
