"""API by which a scheduler waits until a job's write is visible: `/api/refresh/wait`."""

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.utils import timezone

from portal.access.models import User
from portal.ui.api.operations import ApiView, operation
from refresh.changes.api.webhooks import SCOPE, check_size
from refresh.freshness.api.wait_serializers import WaitedSerializer, WaitSerializer
from refresh.freshness.services.waiting import Clock, WaitParams, wait_until_visible


class Wait(ApiView):
    """Read your writes."""

    token_scope = SCOPE

    @operation("refresh_wait", answer=WaitedSerializer, parameters=[WaitSerializer])
    def get(self) -> object:
        """Wait until a write is visible on every live front end that shows the table."""
        said = self.request.query_params
        return _waited(self.user, {**said.dict(), "partitions": said.getlist("partitions")})

    @operation("refresh_wait_long", body=WaitSerializer, answer=WaitedSerializer)
    def post(self) -> object:
        """Do the same for lists of partitions that are too long for an address."""
        check_size(self.request)
        return _waited(self.user, self.request.data)


def _waited(user: User, said: Any) -> dict[str, Any]:
    asked = WaitSerializer(data=said)
    asked.is_valid(raise_exception=True)
    values = asked.validated_data
    wish = WaitParams(
        values["lake"],
        values["table"],
        tuple(values["partitions"]),
        values["written_at"],
        timedelta(seconds=values["timeout"]),
        values["strict"],
    )
    waited = wait_until_visible(wish, user=user, clock=Clock(timezone.now))
    return {**asdict(waited.seen), "ask_again_seconds": waited.ask_again_seconds}
