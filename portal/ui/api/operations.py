"""Declares each operation of the API once: its body, its answer and its OpenAPI description."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property, wraps
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from portal.access.fresh import authenticated_at
from portal.access.models import User
from portal.ui.frame.context import current_lake, person

LAKE = [OpenApiParameter("lake", str)]

SerializerClass = type[BaseSerializer[Any]]


class ApiView(APIView):
    """A view of the API, with what nearly every operation asks of its request."""

    body_class: SerializerClass | None = None

    @property
    def user(self) -> User:
        """The person who asks, or the owner of the token."""
        return person(self.request)

    @property
    def lake(self) -> str:
        """The lake that is asked about."""
        return current_lake(self.request)

    @property
    def authenticated_at(self) -> datetime | None:
        """When the person last proved who they are."""
        return authenticated_at(self.request._request)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The body of the request, checked by the operation's serializer when it is first read."""
        if self.body_class is None:
            return {}
        body = self.body_class(data=self.request.data)
        body.is_valid(raise_exception=True)
        return dict(body.validated_data)


def operation(
    name: str,
    *,
    body: SerializerClass | None = None,
    answer: SerializerClass | None = None,
    many: bool = False,
    status: int = 200,
    parameters: Sequence[Any] = (),
) -> Callable[[Callable[..., object]], Callable[..., Response]]:
    """Make a method of an ApiView an operation of the API, called with the address's values.

    What the method returns is written by `answer`; a Response of its own is left alone. `body` is
    the serializer of `self.data`.
    """
    responses = {status: answer(many=True) if answer and many else answer}

    def declare(method: Callable[..., object]) -> Callable[..., Response]:
        @extend_schema(
            operation_id=name, request=body, responses=responses, parameters=[*parameters]
        )
        @wraps(method)
        def respond(view: ApiView, request: Request, **values: Any) -> Response:
            view.body_class = body
            found = method(view, **values)
            if isinstance(found, Response):
                return found
            written = answer(found, many=many).data if answer else None
            return Response(written, status=status)

        return respond

    return declare
