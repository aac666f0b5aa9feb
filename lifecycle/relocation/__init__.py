"""Relocation plans: data at a nonconforming path is moved to its conforming path, and back.

`domain/moves.py` computes the conforming path, `services/draft.py` and `services/store.py` make the
plan, `services/execution.py` starts it, and `jobs.py` is its Spark program.
"""
