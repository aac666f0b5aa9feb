"""Files of a deployment, checked by the programs that read them."""
