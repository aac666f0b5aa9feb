"""Users with their roles, what each may see, the governed lakes, and the registry of pages.

`visibility.py` decides which tables a person may see. Who may approve is in
`portal/approvals/domain.py`.
"""
