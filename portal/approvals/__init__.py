"""Approvals: who may approve what, for exactly which content, and what may run under it.

`domain.py` has the rules: roles, not one's own request, a recent login, the number of approvals.
`services.py` stores decisions, `sizes.py` says how many approvals a plan needs, and `proposals.py`
is the base of every kind of proposal.
"""
