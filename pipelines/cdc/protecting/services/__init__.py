"""Services of protected columns: which lake may use which key."""
