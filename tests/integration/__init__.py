"""Tests on real servers started through stack/."""
