"""The API of materializations."""
