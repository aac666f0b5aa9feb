"""Types of MySQL and of the lake, DDL statements, classes of changes, and values kept aside."""
