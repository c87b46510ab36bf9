"""Phase 1: the talk of operator and coordinator in which a draft grows until it is ready (S2-07)."""
