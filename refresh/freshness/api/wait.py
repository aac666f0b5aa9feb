"""API by which a scheduler waits until a job's write is visible: `/api/refresh/wait`."""

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.ui.frame.context import person
from refresh.changes.api.webhooks import SCOPE, check_size
from refresh.freshness.api.wait_serializers import WaitedSerializer, WaitSerializer
from refresh.freshness.services.waiting import Clock, WaitWish, wait_until_visible


class Wait(APIView):
    """Read your writes."""

    token_scope = SCOPE

    @extend_schema(
        operation_id="refresh_wait", parameters=[WaitSerializer], responses=WaitedSerializer
    )
    def get(self, request: Request) -> Response:
        """Wait until a write is visible on every live front end that shows the table."""
        said = request.query_params
        return _answer(request, {**said.dict(), "partitions": said.getlist("partitions")})

    @extend_schema(
        operation_id="refresh_wait_long", request=WaitSerializer, responses=WaitedSerializer
    )
    def post(self, request: Request) -> Response:
        """Do the same for lists of partitions that are too long for an address."""
        check_size(request)
        return _answer(request, request.data)


def _answer(request: Request, said: Any) -> Response:
    asked = WaitSerializer(data=said)
    asked.is_valid(raise_exception=True)
    values = asked.validated_data
    wish = WaitWish(
        values["lake"],
        values["table"],
        tuple(values["partitions"]),
        values["written_at"],
        timedelta(seconds=values["timeout"]),
        values["strict"],
    )
    waited = wait_until_visible(wish, user=person(request), clock=Clock(timezone.now))
    answer = WaitedSerializer(
        {**asdict(waited.seen), "ask_again_seconds": waited.ask_again_seconds}
    )
    return Response(answer.data)
