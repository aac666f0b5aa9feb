"""What drop plans and relocation plans share, in the portal and in their Spark jobs.

`selectors/inputs.py` reads what decides whether an item may be planned, and how much a plan may
take; `services/parties.py` who counts as a requester and may not approve.
`services/approved_runs.py` checks a plan before its run. `jobs/acting.py` gives a job its rules and
its fenced tools.
"""
