"""The policy of one Iceberg table, as it holds."""

from optimizer.iceberg.tables.selectors.tables import get_table_for_user
from optimizer.policies.api.fields import OptimizerTablePolicySerializer
from optimizer.policies.api.policies import table_policy_settings
from portal.ui.api.operations import ApiView, operation


class TablePolicy(ApiView):
    """The policy of one table."""

    @operation("optimizer_tables_policy", answer=OptimizerTablePolicySerializer)
    def get(self, table_id: int) -> object:
        """Return every setting as it holds for the table now, with the scope that says so."""
        return table_policy_settings(get_table_for_user(table_id, self.user))
