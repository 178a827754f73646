"""The pages that are written of what was measured, from the stored rows alone."""
