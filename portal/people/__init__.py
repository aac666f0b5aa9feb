"""Who comes in and by which way, who has left, and which people stand behind an owner's name?"""
