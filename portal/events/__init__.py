"""What happened in the lake since we last looked: the follower of the metastore's notifications."""
