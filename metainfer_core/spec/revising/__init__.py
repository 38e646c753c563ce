"""From one version of a spec to the next: edits, differences, the change log, drift."""
