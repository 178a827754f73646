"""Tasks that people bring, each with the tools that they use for it, beside our default."""
