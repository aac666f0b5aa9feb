"""May this destructive thing run: did enough of the right people say yes to exactly this?"""
