"""Path rules: where data may be, the templates they use, and exceptions in force.

`domain/conformity.py` gives the reason why a path does not conform; people grant exceptions in
`lifecycle/policies/services/exceptions.py`.
"""
