"""The roles that people have, on all lakes or on one: rules, changes and lists."""
