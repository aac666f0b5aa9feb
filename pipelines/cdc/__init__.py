"""Change capture: what changes in MySQL databases comes into Hudi tables, once and in order."""
