"""What is wanted for which tables: policies by table, pattern and lake, their history, budgets."""
