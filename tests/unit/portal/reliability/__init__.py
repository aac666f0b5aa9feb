"""Unit tests of `portal/reliability`."""
