"""The studio's frame. Run it with `meta-infer studio`."""

from studio.frame import frame

frame()
