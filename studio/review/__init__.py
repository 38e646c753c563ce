"""The review: queue, card, verdict, and what follows from them."""
