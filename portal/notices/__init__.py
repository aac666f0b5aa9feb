"""Notifications: recipient, content, time, and acceptance by the mail server."""
