"""Manuals and what else is uploaded: unread until a limited process has read it."""
