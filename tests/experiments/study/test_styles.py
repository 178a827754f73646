"""Styles of schemes in figures: people with any kind of colour vision can distinguish the curves."""

import itertools

import numpy as np
import pytest

from pursuit.experiments.study.figures.layout import SCHEME_STYLES, style_of

# Machado, Oliveira and Fernandes 2009, severity 1; they act on linear RGB.
DEFICIENCIES = {
    "none": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def test_own_schemes_take_the_styles_that_are_left():
    own = [f"own-{i}" for i in range(8)]
    styles = [style_of(scheme, ["rp", *own])[:2] for scheme in [*SCHEME_STYLES, *own]]
    assert len(set(styles)) == len(styles)
    assert style_of("own-2", own) == style_of("own-2", [*own, "another"])


@pytest.mark.parametrize(
    ("deficiency", "distance"), [("none", 20), ("deuteranopia", 15), ("protanopia", 15), ("tritanopia", 10)]
)
def test_schemes_can_be_distinguished(deficiency, distance):
    """A distance of 2.3 in Lab is just noticeable; curves that are closer than `distance` differ in lines."""
    for one, other in itertools.combinations(SCHEME_STYLES.values(), 2):
        colours = [lab(DEFICIENCIES[deficiency] @ linear(style.colour)) for style in (one, other)]
        assert np.linalg.norm(colours[0] - colours[1]) > distance or one.line != other.line
        assert one.marker != other.marker


def test_curves_are_dark_enough_for_white_paper():
    assert max(lab(linear(style.colour))[0] for style in SCHEME_STYLES.values()) < 75


def linear(colour):
    """Return linear RGB of an sRGB colour."""
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """Return CIE L*, a*, b* of linear RGB."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ np.clip(rgb, 0.0, 1.0) / [0.9505, 1.0, 1.0890]
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])
