"""The server: the frame around the screens, its routes, and who is let in."""
