"""Formulas as MathML, which browsers draw by themselves: no page needs a script or the network for them."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

# Brackets of a given size, which the converter does not know, become as large as what they enclose.
_SIZED = re.compile(r"\\[bB]igg?[lr]?(?=([(\[])|[)\]])")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer `mathml`, for `html_math_renderer`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _block(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math">{_mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def _mathml(node: nodes.Element, as_block: bool) -> str:
    try:
        tex = _SIZED.sub(lambda found: r"\left" if found[1] else r"\right", node.astext())
        return tex2mathml(tex, as_block=as_block)
    except MathError as error:
        logging.getLogger(__name__).warning("This formula cannot be shown: %s", error, location=node)
        return ""
