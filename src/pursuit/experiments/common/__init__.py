"""What studies and COCO experiments share: their error, files, executors, formatting and plotting."""


class StudyError(Exception):
    """An error that users can act on; the command line prints its message without a traceback."""
