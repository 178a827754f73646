"""The settings of an experiment, which others may have damaged."""

import pytest

from pursuit.experiments.coco import draw_profiles, run_suite
from pursuit.experiments.common import StudyError


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"\xff", b"null", b'"name"'])
def test_damaged_settings_are_a_sentence(content, tmp_path):
    (tmp_path / "experiment.json").write_bytes(content)
    with pytest.raises(StudyError, match=r"experiment.json (cannot be read|is damaged)"):
        run_suite("bbob", "rp", tmp_path, budget=1, dimensions=[2], functions=[1], instances=[1])
    with pytest.raises(StudyError, match=r"experiment.json (cannot be read|is damaged)"):
        draw_profiles([tmp_path], tmp_path / "x.svg")
