"""What people and programs do with layers."""
