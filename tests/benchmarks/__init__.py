"""Side-by-side measurements, printed as ratios. Run by `make bench`; no test asserts a time."""
