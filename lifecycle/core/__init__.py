"""What capabilities of lifecycle share: formats, modes, filters, tools of acting jobs."""
