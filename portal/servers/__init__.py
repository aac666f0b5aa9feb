"""Connections to the servers that the portal itself needs: its database, Redis and mail.

Passwords are read from their files at each new connection, so that they change without a restart.
"""
