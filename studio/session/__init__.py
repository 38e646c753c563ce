"""What belongs to one browser window: who sits there, its address bar, its notices, shared scripts."""
