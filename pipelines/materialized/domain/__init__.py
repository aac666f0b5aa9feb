"""Pure rules of materializations: what may be one, and how it is refreshed."""
