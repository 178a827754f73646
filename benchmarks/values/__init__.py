"""How the rules of methods from differences were chosen, and what they are worth beside other optimisers."""
