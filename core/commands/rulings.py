"""What follows a disputed verdict: a rebuttal by the judged side, and the coordinator's ruling (C-07, S3-17)."""
