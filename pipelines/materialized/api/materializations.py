"""API of materializations. It does all that the pages do."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from django.utils import timezone

from pipelines.materialized.api.serializers import (
    CheckDefinitionSerializer,
    CheckedDefinitionSerializer,
    DeleteMaterializationSerializer,
    EditMaterializationSerializer,
    MaterializationDetailSerializer,
    MaterializationSerializer,
    PauseMaterializationSerializer,
    RefreshNowSerializer,
    RefreshSerializer,
    SetMaterializationSerializer,
)
from pipelines.materialized.selectors.materializations import (
    ORDERS,
    REFRESH_ORDERS,
    MaterializationFilter,
    RefreshFilter,
    get_materialization_for_user,
    materializations_visible,
    refreshes_of,
)
from pipelines.materialized.services.definitions import (
    Wanted,
    definition_read,
    materialization_create,
    materialization_delete,
    materialization_edit,
    materialization_pause,
)
from pipelines.materialized.services.requests import refresh_request
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import RunSerializer


def _wanted(data: Mapping[str, Any]) -> Wanted:
    return Wanted(**{one.name: data[one.name] for one in fields(Wanted)})


class MaterializationList(KeysetList):
    """Materializations."""

    operation_id = "materializations_list"
    page_name = "Materialization"
    serializer_class = MaterializationSerializer
    filterset_class = MaterializationFilter
    orders = ORDERS

    def get_queryset(self) -> Rows:
        """List the materializations that you may see."""
        return materializations_visible(self.lake, self.user)

    @operation(
        "materializations_create",
        body=SetMaterializationSerializer,
        answer=MaterializationSerializer,
        status=201,
    )
    def post(self) -> object:
        """Define a materialization; the same again changes nothing."""
        data = self.data
        return materialization_create(
            data["lake"],
            data["name"],
            _wanted(data),
            user=self.user,
            now=timezone.now(),
        )


class MaterializationCheck(ApiView):
    """Checking a definition."""

    @operation(
        "materializations_check", body=CheckDefinitionSerializer, answer=CheckedDefinitionSerializer
    )
    def post(self) -> object:
        """Check a definition without setting it; a refusal names the clause and the reason."""
        found = definition_read(self.data["sql"])
        return {
            "tables": [one.name for one in found.tables],
            "dimensions": [one.name for one in found.keys],
            "aggregates": [one.name for one in found.measures],
        }


class MaterializationDetail(ApiView):
    """One materialization."""

    @operation("materializations_get", answer=MaterializationDetailSerializer)
    def get(self, number: int) -> object:
        """Return a materialization with what it answered and cost by day."""
        return get_materialization_for_user(number, self.user)

    @operation(
        "materializations_edit",
        body=EditMaterializationSerializer,
        answer=MaterializationSerializer,
    )
    def post(self, number: int) -> object:
        """Change a definition, which is computed in full then; it is read by your rights."""
        found = get_materialization_for_user(number, self.user)
        data = self.data
        materialization_edit(
            found,
            _wanted(data),
            version=data["version"],
            user=self.user,
            now=timezone.now(),
        )
        return get_materialization_for_user(number, self.user)


class MaterializationRefreshes(KeysetList):
    """Refreshes of a materialization."""

    operation_id = "materializations_refreshes"
    page_name = "MaterializationRefresh"
    serializer_class = RefreshSerializer
    filterset_class = RefreshFilter
    orders = REFRESH_ORDERS

    def get_queryset(self) -> Rows:
        """List the refreshes of a materialization, the last first."""
        return refreshes_of(get_materialization_for_user(self.kwargs["number"], self.user))


class MaterializationRefreshNow(ApiView):
    """Refreshing a materialization."""

    @operation(
        "materializations_refresh", body=RefreshNowSerializer, answer=RunSerializer, status=202
    )
    def post(self, number: int) -> object:
        """Refresh a materialization now, by changes or in full."""
        found = get_materialization_for_user(number, self.user)
        is_full = self.data["is_full"]
        return refresh_request(found, is_full=is_full, by=self.user.username, now=timezone.now())


class MaterializationPause(ApiView):
    """Pausing a materialization."""

    @operation("materializations_pause", body=PauseMaterializationSerializer, status=204)
    def post(self, number: int) -> None:
        """Stop refreshing on schedule, or go on."""
        found = get_materialization_for_user(number, self.user)
        materialization_pause(found, paused=self.data["paused"], user=self.user, now=timezone.now())


class MaterializationDelete(ApiView):
    """Deleting a materialization."""

    @operation("materializations_delete", body=DeleteMaterializationSerializer, status=204)
    def post(self, number: int) -> None:
        """Delete a materialization with its history; its table stays in the lake."""
        found = get_materialization_for_user(number, self.user)
        materialization_delete(
            found,
            typed=self.data["typed"],
            version=self.data["version"],
            user=self.user,
            now=timezone.now(),
        )
