"""How long the approval machine is run."""

import os

from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

# In the gate; before a release 5,000 of 100 steps (CONTRIBUTING.md says how).
EXAMPLES = int(os.environ.get("LW_APPROVAL_EXAMPLES", "60"))
STEPS = int(os.environ.get("LW_APPROVAL_STEPS", "50"))


def limits(examples: int) -> hypothesis_settings:
    """Return how long a machine is run."""
    return hypothesis_settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
