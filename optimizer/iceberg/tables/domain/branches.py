"""Names the branches that trials of layouts make, so that nothing takes them for a user's."""

TRIAL_PREFIX = "lakewarden_trial_"


def trial_branch(advice_id: int, run: str) -> str:
    """Return the branch of one trial; no other run, of whichever portal, has the same."""
    return f"{TRIAL_PREFIX}{advice_id}_{run.replace('-', '')[:12]}"


def is_trial(branch: str) -> bool:
    """Whether a trial of a layout made the branch: no reader's, and gone soon."""
    return branch.startswith(TRIAL_PREFIX)
