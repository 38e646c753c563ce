"""The search for the cheapest legal policy within the budget."""
