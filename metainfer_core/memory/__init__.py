"""Where each tensor lies and when: problems, planners, and a checker that shares no code with them."""
