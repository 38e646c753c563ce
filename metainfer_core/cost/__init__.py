"""What a node costs on a spec: predictions, labelled as such."""
