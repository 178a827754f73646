"""Which reading of the paper fits what it reports, and whether an evolution path can replace SARP's drift."""
