"""How good drafts are: on questions with known answers, with errors planted in them, and by what people decided."""
