"""API views that every kind of proposal has: deciding, and steps that need a reason."""

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers

from portal.access.models import User
from portal.approvals.domain import DecisionInput
from portal.approvals.models import Proposal
from portal.approvals.proposals import ProposalKind
from portal.ui.api.old_names import OldNames
from portal.ui.api.operations import ApiView, SerializerClass, operation
from portal.ui.api.serializers import ReasonSerializer

P = TypeVar("P", bound=Proposal)
Shown = Callable[[P, User], object]
"""Returns what the answer's serializer writes of a proposal for a person."""


class AnswerSerializer(OldNames, serializers.Serializer[Any]):
    """One person's decision on exactly what has this digest."""

    old_names = {"verdict": "decision"}

    digest = serializers.CharField(max_length=64)
    decision = serializers.ChoiceField(choices=("APPROVE", "REJECT"))
    reason = serializers.CharField(max_length=1000, required=False, allow_blank=True, default="")


def decide_api(  # noqa: PLR0913 - what the schema says and what is done
    kind: ProposalKind[P],
    name: str,
    *,
    says: str,
    shown: Shown[P],
    answer: SerializerClass,
    body: SerializerClass = AnswerSerializer,
    decision: str = "",
) -> type[ApiView]:
    """Return the API view that takes a person's decision on proposals of a kind.

    `says` describes it in the schema; `decision` is that of the address, where addresses name it.
    """

    def post(view: ApiView, **key: UUID) -> object:
        given: dict[str, Any] = {"decision": decision, "reason": "", **view.data}
        found = kind.decide(
            *key.values(),
            user=view.user,
            answer=DecisionInput(**given),
            authenticated_at=view.authenticated_at,
            now=timezone.now(),
        )
        return shown(found, view.user)

    post.__doc__ = says
    return type("Decide", (ApiView,), {"post": operation(name, body=body, answer=answer)(post)})


def reasoned_api(
    step: Callable[..., P],
    name: str,
    *,
    says: str,
    shown: Shown[P],
    answer: SerializerClass,
    status: int = 200,
) -> type[ApiView]:
    """Return the API view of a step that a person takes with a reason, such as withdrawing."""

    def post(view: ApiView, **key: UUID) -> object:
        reason = view.data["reason"]
        found = step(*key.values(), user=view.user, reason=reason, now=timezone.now())
        return shown(found, view.user)

    post.__doc__ = says
    declared = operation(name, body=ReasonSerializer, answer=answer, status=status)
    return type("Step", (ApiView,), {"post": declared(post)})
