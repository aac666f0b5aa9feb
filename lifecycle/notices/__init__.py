"""Notices to owners: a week ahead, a day ahead, the daily report, and the calendar.

`domain/notice.py` says who is notified and when; sending mail is `portal/notices`.
"""
