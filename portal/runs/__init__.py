"""What is running, where did it get to, and who takes over when its worker dies?"""
