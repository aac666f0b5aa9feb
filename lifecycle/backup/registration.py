"""Registers `lifecycle.backup` with the platform."""

from lifecycle.backup.run_kinds import register_repair
from lifecycle.backup.services.releasing import backups_keep_longer
from portal.safety.release import register_release_hook


def register() -> None:
    """Add what this capability offers: the repair of late drops, and days after a release."""
    register_repair()
    register_release_hook(backups_keep_longer)
