"""Tests on a real YARN."""
