"""Rules on the contents of tables: measured in one pass, judged with a reason."""
