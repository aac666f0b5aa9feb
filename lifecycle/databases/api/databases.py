"""The mode of a database, and what OBSERVE would have dropped, over the API."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.databases.selectors.shadow import shadow_of
from lifecycle.databases.services.modes import ModeChange, database_mode_change
from lifecycle.inventory.api.findings import LAKE, lake_of, person
from lifecycle.inventory.api.serializers import (
    ModeChangeSerializer,
    ModeSerializer,
    ShadowSerializer,
)
from lifecycle.inventory.selectors.findings import (
    get_database_for_user,
)


class DatabaseModeView(APIView):
    """How far a database is trusted."""

    @extend_schema(
        operation_id="database_mode_change",
        request=ModeChangeSerializer,
        responses=ModeSerializer,
        parameters=LAKE,
    )
    def post(self, request: Request, db: str) -> Response:
        """Move a database to another mode (admins)."""
        lake, user = lake_of(request), person(request)
        get_database_for_user(lake, db, user=user)
        body = ModeChangeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        said = body.validated_data
        change = ModeChange(
            lake, db, DatabaseMode(said["seen"]), DatabaseMode(said["wanted"]), said["reason"]
        )
        setting = database_mode_change(change, user=user, now=timezone.now())
        return Response(ModeSerializer(setting).data)


class ShadowList(APIView):
    """What OBSERVE would have dropped."""

    @extend_schema(
        operation_id="shadow_list", responses=ShadowSerializer(many=True), parameters=LAKE
    )
    def get(self, request: Request, db: str) -> Response:
        """Return the database's record of at most 30 days, oldest first."""
        lake = lake_of(request)
        get_database_for_user(lake, db, user=person(request))
        return Response(ShadowSerializer(shadow_of(lake, db), many=True).data)
