"""Incidents of checks: who has to look at a rule that does not pass, until it does."""
