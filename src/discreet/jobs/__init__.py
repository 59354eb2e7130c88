"""What users do in one step: a job prints nothing, reports its progress to callbacks, and returns its outcome."""
