"""Who was told what, when, and did the mail server take it?"""
