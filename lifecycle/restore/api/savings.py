"""API reads of the savings."""

from typing import ClassVar

from rest_framework import serializers

from lifecycle.backup.models import Savings
from lifecycle.restore.selectors.savings import SAVINGS_ORDERS, SavingsFilter, savings_visible
from portal.ui.api.pages import KeysetList, Rows


class SavingsSerializer(serializers.ModelSerializer[Savings]):
    """What drops of one owner's tables in one database came to."""

    class Meta:
        model = Savings
        fields: ClassVar = [
            *("table_owner", "db", "n_dropped", "n_restored", "dropped_bytes", "restored_bytes"),
            *("waiting_bytes", "purged_bytes"),
        ]


class SavingsList(KeysetList):
    """Savings."""

    operation_id = "savings_list"
    serializer_class = SavingsSerializer
    filterset_class = SavingsFilter
    orders = SAVINGS_ORDERS

    def get_queryset(self) -> Rows:
        """List what drops took out of the lake, by owner and database."""
        return savings_visible(self.lake, self.user)
