"""The resident service: one run that stays with Hudi tables whose policy asks for it."""
