"""From a draft to a spec: places, decisions, the desk that people confirm at."""
