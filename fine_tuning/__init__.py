"""Fine-tuning: makes the changes of a policy that need training, trains them, measures, and records what was done."""
