"""A model on the screen: table, roofline, neighbours, Netron."""
