"""The model gateway: programs ask models with the token of their run; the real key and the meter are here."""
