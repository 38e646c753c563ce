"""A draft of a spec, from documents, an older form or this machine, and what people accept of it."""
