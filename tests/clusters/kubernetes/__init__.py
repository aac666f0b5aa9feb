"""Tests against the API server of a Kubernetes without nodes."""
