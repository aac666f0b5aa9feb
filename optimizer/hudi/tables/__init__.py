"""Hudi tables as known to the portal: changes, polls, and how jobs open them."""
