"""The error that studies and COCO experiments raise."""


class StudyError(Exception):
    """An error that users can act on; the command line prints its message without a traceback."""
