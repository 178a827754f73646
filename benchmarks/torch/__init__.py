"""Fine-tuning without gradients, measured."""
