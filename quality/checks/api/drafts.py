"""API of drafts of checks: trying, measuring, proposing, importing. Nothing of it is saved."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from rest_framework.response import Response

from portal.access.models import User
from portal.ui.api.operations import ApiView, operation
from quality.checks.api.serializers import (
    ChecksDraftSerializer,
    CheckTrialSerializer,
    ImportedChecksSerializer,
    ImportSodaSerializer,
    ProposeChecksSerializer,
    ProposedChecksSerializer,
    TriedChecksSerializer,
)
from quality.checks.domain.documents import write_document
from quality.checks.domain.soda import import_soda
from quality.checks.selectors.check_sets import get_trial_for_user
from quality.checks.services.starting import checks_propose
from quality.checks.services.trials import checks_try, trial_request
from quality.models import CheckTrial


class CheckSetTry(ApiView):
    """Trying a draft."""

    @operation("checks_try", body=ChecksDraftSerializer, answer=TriedChecksSerializer)
    def post(self) -> object:
        """Judge a draft on past windows by what was measured before."""
        data = self.data
        return checks_try(data["lake"], data["document"], user=self.user, now=timezone.now())


class CheckTrialList(ApiView):
    """Measuring for a draft."""

    @operation(
        "checks_trial_run", body=ChecksDraftSerializer, answer=CheckTrialSerializer, status=202
    )
    def post(self) -> object:
        """Measure a draft's metrics on the newest windows of its table."""
        data, now = self.data, timezone.now()
        made = trial_request(data["lake"], data["document"], user=self.user, now=now)
        return Response(_written(made, self.user, now), status=202)


class CheckTrialDetail(ApiView):
    """One trial."""

    @operation("checks_trial", answer=CheckTrialSerializer)
    def get(self, trial_id: int) -> object:
        """Return what a draft says of the windows that were measured for it."""
        found = get_trial_for_user(trial_id, self.user)
        return Response(_written(found, self.user, timezone.now()))


class CheckSetPropose(ApiView):
    """Proposing rules."""

    @operation("checks_propose", body=ProposeChecksSerializer, answer=ProposedChecksSerializer)
    def post(self) -> object:
        """Propose rules for a table from its columns."""
        data = self.data
        return {"document": checks_propose(data["lake"], data["table"], user=self.user)}


class CheckSetSoda(ApiView):
    """Importing checks of Soda's form."""

    @operation("checks_soda", body=ImportSodaSerializer, answer=ImportedChecksSerializer)
    def post(self) -> object:
        """Return what checks of Soda's form become here, and which do not fit."""
        data = self.data
        found = import_soda(data["soda"], db=data["db"], partition_key=data["partition_key"])
        document = "" if found.checks is None else write_document(found.checks)
        return {"document": document, "refused": found.refused}


def _written(row: CheckTrial, user: User, now: datetime) -> Any:
    return CheckTrialSerializer(row, context={"user": user, "now": now}).data
