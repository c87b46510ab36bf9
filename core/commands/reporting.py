"""Phase 4: the report, put together from the board's facts and the coordinator's words (S2-14)."""
