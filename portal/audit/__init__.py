"""What happened, who did it, and has anybody changed the record since?"""
