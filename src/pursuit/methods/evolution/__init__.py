"""An evolution strategy for rough functions."""
