"""The refresh worker: plans, chooses and sends refresh statements, and records their results.

`services/worker.py` calls the others in this order: `services/planning.py`, `domain/scheduling.py`,
`services/sending.py`, `services/results.py`.
"""
