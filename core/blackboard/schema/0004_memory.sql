-- Experiences stand together in the index, so that recalling them reads nothing else.
UPDATE search SET rowid = 281474976710656 + entity_id WHERE entity = 'experiences';
