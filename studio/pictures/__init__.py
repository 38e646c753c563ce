"""Pictures of a model and of the policy for it."""
