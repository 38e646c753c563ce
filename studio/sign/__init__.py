"""Signing: what is signed in words, the commands for it, the demo's own key."""
