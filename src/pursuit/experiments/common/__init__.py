"""What studies and COCO experiments share: errors, files, executors, counting, formatting and plotting."""
