"""Studies: many runs that are declared, executed, stored, analysed, drawn and reported."""

from pursuit.experiments.common import StudyError
from pursuit.experiments.study.declaration import load_study
from pursuit.experiments.study.reproduction import draw_report, export, reproduce
from pursuit.experiments.study.store import read_store

__all__ = ["StudyError", "draw_report", "export", "load_study", "read_store", "reproduce"]
