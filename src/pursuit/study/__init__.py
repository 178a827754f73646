"""Studies: many runs, declared, stored, analysed, drawn and told."""

from pursuit.study.declaration import load_study
from pursuit.study.errors import StudyError
from pursuit.study.reproduction import draw_report, reproduce
from pursuit.study.store import read_store

__all__ = ["StudyError", "draw_report", "load_study", "read_store", "reproduce"]
