"""The whole flow as one readable list of steps; hands lower parts what they need from higher ones."""
