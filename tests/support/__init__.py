"""What several rooms of tests share: running stacks, Spark shells, mailboxes."""
