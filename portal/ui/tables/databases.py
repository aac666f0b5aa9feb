"""The page of one database: how its tables stand, with the way to those of each level."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from portal.catalog.domain.health import HealthLevel
from portal.catalog.selectors import get_database_for_user, health_as_of
from portal.catalog.services.registry import database_links, health_parts
from portal.ui.frame.context import current_lake, person
from portal.ui.tables.addresses import tables_url


@dataclass(frozen=True, slots=True)
class Count:
    """How many tables are at a level, and the list of them."""

    state: str
    n: int
    url: str


@require_GET
def database(request: HttpRequest, db: str) -> HttpResponse:
    """Count the tables of a database by their health, and by that of each part."""
    lake, user = current_lake(request), person(request)
    found = get_database_for_user(lake, db, user=user)
    worst_first = sorted(HealthLevel, reverse=True)
    levels = [
        Count(f"TABLE_{one.name}", n, tables_url(lake, db=db, level=one.name))
        for one in worst_first
        if (n := found.levels.get(one, 0))
    ]
    parts = [
        (
            part.title,
            [
                Count(f"PART_{one.name}", n, tables_url(lake, db=db, part=part.key, level=one.name))
                for one in worst_first
                if (n := found.parts[part.key].get(one, 0))
            ],
        )
        for part in health_parts()
        if part.key in found.parts
    ]
    context = {
        "db": db,
        "found": found,
        "levels": levels,
        "parts": parts,
        "as_of": health_as_of(lake),
        "tables_url": tables_url(lake, db=db),
        "links": database_links(lake, db, user),
    }
    return render(request, "catalog/database.html", context)
