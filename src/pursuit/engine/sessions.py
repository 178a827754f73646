"""Sessions in compiled code: imported only where there is a compiler."""

from __future__ import annotations

import dataclasses

from numba import types
from numba.experimental import structref

from pursuit.engine.iteration import Session


@structref.register
class SessionType(types.StructRef):
    """Numba's type of a session."""


class CompiledSession(structref.StructRefProxy):
    """A session that compiled code holds."""


structref.define_constructor(Session, SessionType, [field.name for field in dataclasses.fields(Session)])
structref.define_boxing(SessionType, CompiledSession)
