"""Owners' answers to what is due: many tables at once, and by signed links in mails."""
