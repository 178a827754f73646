"""What goes wrong in a study, as a sentence."""


class StudyError(Exception):
    """An error whose message is all that people need to see."""
