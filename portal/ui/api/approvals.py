"""API of the inbox of approvals, by the same filters, words and pages as its page."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from portal.approvals.comments import MOST_SIGNS, comment_add, comments_on
from portal.approvals.inbox import InboxQuery, Shown, Tab, inbox_page
from portal.approvals.proposals import get_proposal_kind
from portal.approvals.waiting import n_needs_me
from portal.ui.api.operations import LAKE, ApiView, operation
from portal.ui.inbox import Asked, cursors_of, place_at
from portal.ui.lists.keyset import page_size

PARAMETERS = [
    *LAKE,
    OpenApiParameter(
        "tab", str, enum=[one.value for one in Tab],
        description="Whose: what needs your decision (the default), what you asked for, or all.",
    ),
    OpenApiParameter("kind", str, description="The name of a kind, as a row has it."),
    OpenApiParameter(
        "state", str, enum=[one.value for one in Shown],
        description="Of the tabs mine and all; what waits is the default.",
    ),
    OpenApiParameter("requester", str, description="Somebody who asked for it."),
    OpenApiParameter(
        "about", str, description="The beginning of a database or table, `db` or `db.table`."
    ),
    OpenApiParameter("after", str),
    OpenApiParameter("before", str),
    OpenApiParameter("size", int),
]  # fmt: skip


class EffectSerializer(serializers.Serializer[Any]):
    """What a proposal takes away or changes."""

    words = serializers.CharField()
    n_items = serializers.IntegerField()
    n_bytes = serializers.IntegerField(allow_null=True)


class ApprovalSerializer(serializers.Serializer[Any]):
    """One proposal that people are asked to approve."""

    id = serializers.UUIDField()
    kind = serializers.CharField()
    kind_title = serializers.CharField()
    title = serializers.CharField()
    reason = serializers.CharField()
    state = serializers.CharField()
    effect = EffectSerializer()
    requesters = serializers.ListField(child=serializers.CharField())
    n_given = serializers.IntegerField(help_text="Approvals that count.")
    n_needed = serializers.IntegerField()
    waits_for = serializers.ListField(
        child=serializers.CharField(), help_text="Everybody who may still approve it."
    )
    waiting_since = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    steps = serializers.ListField(
        child=serializers.CharField(), help_text="What you may do with it now."
    )
    url = serializers.CharField(help_text="The address of its page.")


class ApprovalPageSerializer(serializers.Serializer[Any]):
    """A page of the inbox."""

    results = ApprovalSerializer(many=True)
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    n_needs_me = serializers.IntegerField(help_text="How many need your decision, unfiltered.")
    broken = serializers.ListField(
        child=serializers.CharField(), help_text="Kinds that could not be read just now."
    )


class ApprovalList(ApiView):
    """The inbox."""

    @operation("approvals_list", answer=ApprovalPageSerializer, parameters=PARAMETERS)
    def get(self) -> object:
        """List what waits for approval over all kinds: your decisions, your requests, or all.

        What waits comes by the longest wait, which expires first; a history by the newest.
        """
        params, now = self.request.query_params, timezone.now()
        asked = Asked(params)
        if not asked.is_valid:
            said = asked.form.errors.items()
            raise serializers.ValidationError({name: [*map(str, texts)] for name, texts in said})
        page = inbox_page(
            InboxQuery(self.user, self.lake, asked.wanted, now),
            size=page_size(params.get("size", "")),
            after=place_at(params.get("after", "")),
            before=place_at(params.get("before", "")),
        )
        following, preceding = cursors_of(page)
        return {
            "results": page.rows,
            "next": self._address("after", following),
            "previous": self._address("before", preceding),
            "n_needs_me": n_needs_me(self.user, self.lake, now=now),
            "broken": [kind.name for kind in page.broken],
        }

    def _address(self, name: str, cursor: str) -> str | None:
        if not cursor:
            return None
        params = self.request.query_params.copy()
        for old in ("after", "before"):
            params.pop(old, None)
        params[name] = cursor
        return str(self.request.build_absolute_uri(f"{self.request.path}?{params.urlencode()}"))


class CommentSerializer(serializers.Serializer[Any]):
    """What a person wrote about a proposal."""

    id = serializers.IntegerField(read_only=True)
    author = serializers.CharField(read_only=True)
    at = serializers.DateTimeField(read_only=True)
    text = serializers.CharField()


class CommentWrittenSerializer(serializers.Serializer[Any]):
    """A comment to be written."""

    text = serializers.CharField(max_length=MOST_SIGNS)


class CommentList(ApiView):
    """What people wrote about a proposal."""

    @operation("approvals_comments", answer=CommentSerializer, many=True)
    def get(self, kind: str, proposal_id: UUID) -> object:
        """List the comments on a proposal that you may see, the oldest first."""
        return comments_on(kind, proposal_id, user=self.user)

    @operation(
        "approvals_comment", body=CommentWrittenSerializer, answer=CommentSerializer, status=201
    )
    def post(self, kind: str, proposal_id: UUID) -> object:
        """Write a comment; whoever may see the proposal reads it, and nobody can change it."""
        text: str = self.data["text"]
        return comment_add(kind, proposal_id, user=self.user, text=text, now=timezone.now())


class ShareSerializer(serializers.Serializer[Any]):
    """Some tables of a proposal in numbers."""

    n_tables = serializers.IntegerField()
    n_items = serializers.IntegerField()
    n_bytes = serializers.IntegerField()


class ChangesSerializer(serializers.Serializer[Any]):
    """How a proposal differs from the last one of its tables; nulls where there was none."""

    previous = serializers.UUIDField(source="previous.pk", allow_null=True, default=None)
    previous_title = serializers.CharField(source="previous.title", allow_null=True, default=None)
    url = serializers.CharField(allow_null=True, default=None, help_text="The page of the last.")
    unit = serializers.CharField(allow_null=True, default=None, help_text="What an item is.")
    now = ShareSerializer(allow_null=True, default=None)
    before = ShareSerializer(allow_null=True, default=None)
    new = ShareSerializer(allow_null=True, default=None)
    gone = ShareSerializer(allow_null=True, default=None)
    n_unchanged = serializers.IntegerField(allow_null=True, default=None)


class RangeSerializer(serializers.Serializer[Any]):
    """Partitions of a table that follow each other."""

    first = serializers.CharField()
    last = serializers.CharField()
    n_items = serializers.IntegerField()
    n_bytes = serializers.IntegerField(allow_null=True)
    note = serializers.CharField()


class ChangesView(ApiView):
    """A proposal beside the last one of the same tables."""

    @operation("approvals_changes", answer=ChangesSerializer)
    def get(self, kind: str, proposal_id: UUID) -> object:
        """Compare a proposal with the last one of its tables, as far as you see both."""
        its = get_proposal_kind(kind)
        return its.changes(its.get_for_user(proposal_id, user=self.user), self.user) or {}


class RangesView(ApiView):
    """The partition ranges of one table of a proposal."""

    @operation("approvals_ranges", answer=RangeSerializer, many=True)
    def get(self, kind: str, proposal_id: UUID, db: str, table: str) -> object:
        """List the partition ranges of a table, as the scan behind the proposal saw them."""
        its = get_proposal_kind(kind)
        found = its.get_for_user(proposal_id, user=self.user)
        return its.ranges_for_user(found, db, table, user=self.user)
