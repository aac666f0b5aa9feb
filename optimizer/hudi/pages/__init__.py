"""Pages and API of Hudi tables."""
