"""API of the lake's tables and databases, in the words of their pages."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from portal.catalog.domain.health import HealthLevel, worst_of
from portal.catalog.models import VIEW_NAME_CHARS, VIEW_QUERY_CHARS, Table, TablePart
from portal.catalog.selectors import (
    get_database_for_user,
    get_table_for_user,
    saved_views,
    tables_visible,
    with_parts,
)
from portal.catalog.services.columns import read_columns, table_columns
from portal.catalog.services.registry import read_health, strips_of, tabs_for
from portal.catalog.services.saved_views import view_delete, view_save
from portal.ui.api.operations import LAKE, ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.tables.columns import cols_of
from portal.ui.tables.filters import TableFilter
from portal.ui.tables.list import TABLE_ORDERS
from portal.ui.tables.saved_views import kept_query

LEVELS = [level.name for level in HealthLevel]


class TablePartSerializer(serializers.ModelSerializer[TablePart]):
    """How one part of a table stood when it was judged last."""

    level = serializers.SerializerMethodField()

    class Meta:
        model = TablePart
        fields = ("part", "level", "sentence", "since")
        read_only_fields = fields

    def get_level(self, row: TablePart) -> str:
        """Return the level by name."""
        return HealthLevel(row.level).name


class LakeTableSerializer(serializers.ModelSerializer[Table]):
    """A table of the lake; `health` is the level of its worst part, as judged last."""

    health = serializers.ChoiceField(choices=LEVELS, read_only=True)
    parts: Any = TablePartSerializer(many=True, read_only=True, source="judged")
    columns = serializers.DictField(
        read_only=True,
        source="more",
        help_text="By name, the values of the areas' columns; of a list those that `cols` names.",
    )

    class Meta:
        model = Table
        fields: tuple[str, ...] = (
            *("lake", "db", "name", "format", "owner", "db_owner", "location", "created_at"),
            *("first_seen_at", "last_seen_at", "deleted_at", "health", "parts", "columns"),
        )
        read_only_fields = fields


class PartNowSerializer(serializers.Serializer[object]):
    """How one part of a table stands now."""

    part = serializers.CharField(read_only=True)
    level = serializers.CharField(read_only=True, help_text=", ".join(LEVELS))
    sentence = serializers.CharField(read_only=True)


class TableStripSerializer(serializers.Serializer[object]):
    """What waits for a table, or holds it."""

    text = serializers.CharField(read_only=True)
    url = serializers.CharField(read_only=True)


class LakeTableDetailSerializer(LakeTableSerializer):
    """A table with its health of this moment, its strips and the keys of its tabs."""

    # As the class above, but of this moment.
    parts: Any = PartNowSerializer(many=True, read_only=True)
    strips = TableStripSerializer(many=True, read_only=True)
    tabs = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta(LakeTableSerializer.Meta):
        fields = (*LakeTableSerializer.Meta.fields, "strips", "tabs")
        read_only_fields = fields


class SavedViewSerializer(serializers.Serializer[object]):
    """A named filter and order of the list of tables."""

    id = serializers.IntegerField(read_only=True)
    name = serializers.CharField(max_length=VIEW_NAME_CHARS)
    query = serializers.CharField(
        max_length=VIEW_QUERY_CHARS,
        allow_blank=True,
        default="",
        help_text="as in the address of the list: `level=BAD&sort=name`",
    )
    saved_at = serializers.DateTimeField(read_only=True)


class LevelCountSerializer(serializers.Serializer[object]):
    """How many tables are at a level."""

    level = serializers.CharField(read_only=True, help_text=", ".join(LEVELS))
    n_tables = serializers.IntegerField(read_only=True)


class PartCountSerializer(LevelCountSerializer):
    """How many tables are at a level with one part of their health."""

    part = serializers.CharField(read_only=True)


class LakeDatabaseSerializer(serializers.Serializer[object]):
    """A database, and how its tables stand."""

    db = serializers.CharField(read_only=True)
    n_tables = serializers.IntegerField(read_only=True)
    owners = serializers.ListField(child=serializers.CharField(), read_only=True)
    levels = LevelCountSerializer(many=True, read_only=True)
    parts = PartCountSerializer(many=True, read_only=True)


class LakeTableList(KeysetList):
    """Tables of the lake, the worst first."""

    operation_id = "lake_tables_list"
    page_name = "LakeTable"
    serializer_class = LakeTableSerializer
    filterset_class = TableFilter
    orders = TABLE_ORDERS
    more_parameters = ("cols",)

    def get_queryset(self) -> Rows:
        """List the tables that you may see, whatever their format.

        `cols` names columns as the page's address does: `cols=size,due`. Those of the areas are
        answered in `columns`.
        """
        return with_parts(tables_visible(self.lake, self.user))

    def completed(self, rows: list[Any]) -> list[Any]:
        """Return the rows with the columns that are asked for."""
        found = read_columns(self.lake, rows, cols_of(self.request.query_params).split(","))
        for row in rows:
            row.more = found[row.pk]
        return rows


class SavedViewList(ApiView):
    """A person's views of the list of tables."""

    @operation("saved_views_list", answer=SavedViewSerializer, many=True, parameters=LAKE)
    def get(self) -> object:
        """List your views of the list of tables, by name."""
        return saved_views(self.lake, self.user)

    @operation(
        "saved_views_save", body=SavedViewSerializer, answer=SavedViewSerializer, parameters=LAKE
    )
    def post(self) -> object:
        """Keep a filter and order of the list of tables under a name; the same name replaces it."""
        query = kept_query(self.data["query"])
        return view_save(
            self.lake, user=self.user, name=self.data["name"], query=query, now=timezone.now()
        )


class SavedViewDelete(ApiView):
    """Deleting a view."""

    @operation("saved_views_delete", answer=SavedViewSerializer)
    def post(self, view_id: int) -> object:
        """Delete a view of yours."""
        return view_delete(view_id, user=self.user)


class LakeTableDetail(ApiView):
    """One table of the lake."""

    @operation("lake_tables_get", answer=LakeTableDetailSerializer)
    def get(self, db: str, table: str) -> object:
        """Return a table with its health of this moment; one that was dropped says when."""
        found: Any = get_table_for_user(self.lake, db, table, user=self.user)
        is_there = found.deleted_at is None
        parts = read_health(self.lake, [found])[found.pk] if is_there else {}
        names = [column.key for column in table_columns()]
        return {
            **{name: getattr(found, name) for name in _OWN},
            "health": worst_of(parts.values()).name,
            "parts": [
                {"part": key, "level": part.level.name, "sentence": part.sentence}
                for key, part in parts.items()
            ],
            "more": read_columns(found.lake, [found], names)[found.pk] if is_there else {},
            "strips": strips_of(found, self.user) if is_there else [],
            "tabs": [tab.key for tab in tabs_for(found, self.user, parts)],
        }


class LakeDatabaseDetail(ApiView):
    """One database of the lake."""

    @operation("lake_databases_get", answer=LakeDatabaseSerializer)
    def get(self, db: str) -> object:
        """Count the tables of a database by their health, and by that of each part."""
        found = get_database_for_user(self.lake, db, user=self.user)
        return {
            "db": db,
            "n_tables": found.n_tables,
            "owners": found.owners,
            "levels": [
                {"level": level.name, "n_tables": n} for level, n in sorted(found.levels.items())
            ],
            "parts": [
                {"part": part, "level": level.name, "n_tables": n}
                for part, levels in sorted(found.parts.items())
                for level, n in sorted(levels.items())
            ],
        }


_READ = {"health", "parts", "columns"}
_OWN = tuple(name for name in LakeTableSerializer.Meta.fields if name not in _READ)
