"""Kerberos: as whom a lake's clients log in, their tickets, and SASL for the metastore."""
