"""What stands beside a backup, so that it can be restored without the portal."""
