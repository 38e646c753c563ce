"""The record of events: appended, chained, checked."""
