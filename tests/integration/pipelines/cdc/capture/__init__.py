"""The capture against a real source."""
