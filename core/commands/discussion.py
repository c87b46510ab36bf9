"""Phase 2: turns of a discussion, how it converges or is ended, and decisions that outputs must carry out."""
