"""The platform's part of the API: the same lists, doors and services as its pages."""
