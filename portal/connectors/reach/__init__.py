"""Which systems of a lake the portal reaches, and as whom."""
