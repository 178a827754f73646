"""What studies and COCO experiments share: errors, files, executors, formatting and plotting."""
