"""When data is due: the age rule, its words, and what another LEVEL or TTL would change."""
