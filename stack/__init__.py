"""Real servers on loopback for the demo and the tests; imported by tests, bench and its own CLI.

Imports none of the rooms: the portal is started as programs, as in production.
"""
