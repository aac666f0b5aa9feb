"""Changes of schema that a person decides on, before any record made under them is applied."""
