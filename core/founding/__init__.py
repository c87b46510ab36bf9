"""Companies made from templates: who works there as data, on what is found here, whole or not at all."""
