"""For every test: the collector looks seldom. Screens make many objects that live as long as their test (a fifth of the
whole run was spent on looking for garbage among them)."""

import gc

gc.set_threshold(200_000, 20, 100)
