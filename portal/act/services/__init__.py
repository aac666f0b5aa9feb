"""Services of `portal.act`: what the portal does about backups, holds and fences."""
