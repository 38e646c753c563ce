"""Device trees, from source, blob or the live tree."""
