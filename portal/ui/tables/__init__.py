"""Pages of the lake's tables and databases: what each area registers, put together."""
