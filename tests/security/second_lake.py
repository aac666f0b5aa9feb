"""A second lake with an object of the same name for each one that the first has."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from django.apps import apps
from django.db import models

from tests.component.lifecycle.plan_world import LAKE, lake_entry

OTHER = "archive"
MARK = "zz-archive"
"""Stands for every owner and reason of the second lake, and for none of the first's."""
_MARKED = frozenset({"owner", "table_owner", "db_owner", "reason", "justification"})


# Events are chained, and a cluster names each of its catalogs and tables once, of whichever lake.
_NOT_COPIED = frozenset(
    {"audit.AuditEvent", "refresh.ClusterCatalog", "refresh.DeclaredTable", "refresh.RefreshTarget"}
)

# Counts how often the metastore was asked, also of a table whose owner then turns out another.
_NOT_COMPARED = frozenset({"refresh.MetastoreLoad"})


@dataclass(frozen=True)
class TwoLakes:
    """What tells the objects of the two lakes apart: their ids, and the mark of the second."""

    ids: dict[str, frozenset[str]]
    copy_of: Callable[[models.Model], models.Model]
    """Returns the second lake's row of one of the first."""

    def strays(self, text: str, *, lake: str) -> list[str]:
        """Return what a page of one lake says of the other."""
        other = OTHER if lake == LAKE else LAKE
        marks = [MARK] if lake == LAKE else []
        return [one for one in [*marks, *sorted(self.ids[other])] if one in text]


def add_second_lake(root: Path) -> TwoLakes:
    """Govern `archive` too, which is the first by name, and copy each row of the first lake."""
    entries = {LAKE: lake_entry(root), OTHER: lake_entry(root)}
    (root / "lakes.json").write_text(json.dumps(entries), encoding="utf-8")
    copier = _Copier()
    models_copied = [model for model in apps.get_models() if _is_of_lake(model)]
    rows = [row for model in models_copied for row in model._default_manager.order_by("pk")]
    copier.know(rows)
    for row in rows:
        copier.copy(row)
    return TwoLakes({lake: frozenset(_ids(lake)) for lake in (LAKE, OTHER)}, copier.copy)


def rows_of(lake: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of a lake, so that a test sees whatever was changed in it."""
    found = {}
    for model in apps.get_models():
        way = _way_to_lake(model)
        if way and model._meta.label not in _NOT_COMPARED:
            rows = model._default_manager.filter(**{way: lake}).order_by("pk")
            found[model._meta.label] = list(rows.values_list())
    return found


def _way_to_lake(model: type[models.Model]) -> str:
    """Return the column, or the way over relations, that says a row's lake; "" for none."""
    if _has_lake(model):
        return "lake"
    for field in model._meta.fields:
        kin = field.related_model
        if isinstance(kin, type) and kin is not model and (way := _way_to_lake(kin)):
            return f"{field.name}__{way}"
    return ""


def _is_of_lake(model: type[models.Model]) -> bool:
    """Whether its rows are of one lake, by a column of theirs or by what they refer to."""
    if model._meta.label in _NOT_COPIED:
        return False
    kin = [field.related_model for field in model._meta.fields if field.is_relation]
    return _has_lake(model) or any(
        isinstance(one, type) and one is not model and _is_of_lake(one) for one in kin
    )


def _has_lake(model: type[models.Model]) -> bool:
    return any(field.name == "lake" for field in model._meta.fields)


class _Copier:
    """Copies rows; what refers to a copied row, by key or by id, refers to its copy."""

    def __init__(self) -> None:
        self._copies: dict[tuple[type[models.Model], object], models.Model] = {}
        self._ids: dict[UUID, UUID] = {}

    def know(self, rows: Iterable[models.Model]) -> None:
        """Choose the ids of all copies first: texts of other rows hold them too."""
        for row in rows:
            for value in (row.pk, getattr(row, "public_id", None)):
                if isinstance(value, UUID):
                    self._ids.setdefault(value, uuid4())

    def copy(self, row: models.Model) -> models.Model:
        """Return the second lake's row of this one; what it refers to is copied before it."""
        key = (type(row), row.pk)
        if key not in self._copies:
            fields = [one for one in row._meta.concrete_fields if not self._is_counted(one)]
            values = {field.attname: self._value(row, field) for field in fields}
            made = type(row)(**values)
            made.save(force_insert=True)
            self._copies[key] = made
        return self._copies[key]

    @staticmethod
    def _is_counted(field: Any) -> bool:
        return isinstance(field, models.AutoField)

    def _value(self, row: models.Model, field: Any) -> object:
        value = getattr(row, field.attname)
        if field.is_relation:
            found = getattr(row, field.name)
            is_ours = found is not None and _is_of_lake(type(found))
            return self.copy(found).pk if is_ours else value
        if field.name == "lake":
            return OTHER
        if isinstance(value, UUID):
            return self._ids.setdefault(value, uuid4())
        if field.name in _MARKED and value:
            return MARK
        if isinstance(value, dict | list):
            return json.loads(self._renamed(json.dumps(value)))
        if isinstance(value, str):
            value = self._renamed(value)
        if not field.unique or not value:
            return value
        return value + 1_000_000 if isinstance(value, int) else f"{OTHER}-{value}"

    def _renamed(self, text: str) -> str:
        """Name the copies in a text that names what was copied."""
        for old, new in self._ids.items():
            text = text.replace(str(old), str(new))
        return text


def _ids(lake: str) -> Iterator[str]:
    """Give the ids by which addresses name the objects of a lake."""
    for model in filter(_has_lake, apps.get_models()):
        for row in model._default_manager.filter(lake=lake):
            for value in (row.pk, getattr(row, "public_id", None)):
                if isinstance(value, UUID):
                    yield str(value)
