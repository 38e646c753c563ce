"""The studio's frame. Run it with `meta-infer studio`."""

from studio.server.frame import frame

frame()
