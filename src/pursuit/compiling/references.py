"""Functions that need not count references to arrays.

Numba counts how often an array is referred to, so that it can be freed: in every function it adds one for
each argument and each part of an array, and subtracts it where the variable is used for the last time. For a
state of many arrays this is a quarter of all code. A function that only works on arrays that its caller
holds can do without: then that code is neither made nor optimised away again. If it returns some of them, it
counts these, once.

A loop that is called with many arrays, and gets new references to them from the functions it calls, would
count them dozens of times per iteration, and each time costs as much as ten additions. It can be compiled
without any counting, if it gives up by `release` what these functions return.
"""

from __future__ import annotations

from typing import Any

from numba.core import ir, types
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.runtime.context import NRTContext
from numba.extending import intrinsic

# mypy does not know that it can be iterated over.
_TUPLE: Any = types.BaseTuple
# What yields a part of something that is held already.
_BORROWING = frozenset({"getattr", "getitem", "static_getitem", "build_tuple", "cast", "exhaust_iter"})


@register_pass(mutates_CFG=False, analysis_only=True)
class LeaveOutReferences(AnalysisPass):
    """Lets Numba compile a function without counting references, where that is safe."""

    _name = "leave_out_references"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Return that nothing about the function itself has changed."""
        if _Judge(state).only_borrows():
            counted = _counting_what_is_returned(state.targetctx)
            state.targetctx = state.targetctx.subtarget(enable_nrt=False, get_return_value=counted)
        return False


def _counting_what_is_returned(context: Any) -> Any:
    """Return what Numba makes a function's result with, for one that counts nothing else."""

    def get_return_value(builder: Any, kind: Any, value: Any) -> Any:
        NRTContext(context, enabled=True).incref(builder, kind, value)
        return context.get_return_value(builder, kind, value)

    return get_return_value


@register_pass(mutates_CFG=False, analysis_only=True)
class LeaveOutAllReferences(AnalysisPass):
    """Lets Numba compile a function without counting references, which `release` has to do in its place."""

    _name = "leave_out_all_references"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Return that nothing about the function itself has changed."""
        context = state.targetctx
        state.targetctx = context.subtarget(
            enable_nrt=False,
            nrt=_NothingCounted(context, enabled=True),
            # What Python calls a function by takes and gives back references, as always.
            create_cpython_wrapper=context.create_cpython_wrapper,
        )
        return False


class _NothingCounted(NRTContext):
    """Access to memory that Numba manages, such as that of a session, without counting."""

    def incref(self, builder: Any, typ: Any, value: Any) -> None:
        """Do nothing."""

    def decref(self, builder: Any, typ: Any, value: Any) -> None:
        """Do nothing."""


def _release(typing_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not context.enable_nrt:
            NRTContext(context, enabled=True).decref(builder, signature.args[0], arguments[0])
        return context.get_dummy_value()

    return types.none(value), generate


# Its type hints count the typing context among the arguments.
release: Any = intrinsic(_release)
"""Give up the references in a value, in a function that does not count them; nothing in one that does."""


class _Judge:
    """Says of a typed function whether it must count references to more than it returns."""

    def __init__(self, state: Any) -> None:
        self._models, self._types = state.targetctx.data_model_manager, state.typemap
        self._blocks = state.func_ir.blocks
        self._known: dict[Any, bool] = {}

    def only_borrows(self) -> bool:
        """Say whether every array is one that the caller holds, or a part of it."""
        return all(map(self._is_plain, set(self._types.values()))) and all(
            self._borrows(statement) for block in self._blocks.values() for statement in block.body
        )

    def _refers(self, kind: Any) -> bool:
        if kind not in self._known:
            self._known[kind] = self._models[kind].contains_nrt_meminfo()
        return self._known[kind]

    def _is_plain(self, kind: Any) -> bool:
        """Say whether a type refers to nothing but arrays."""
        if isinstance(kind, _TUPLE):
            return all(map(self._is_plain, kind))
        return isinstance(kind, types.Array) or not self._refers(kind)

    def _borrows(self, statement: Any) -> bool:
        """Say whether a statement makes nothing that has to be freed."""
        if isinstance(statement, ir.SetItem | ir.StaticSetItem):
            # Numba copies arrays that overlap.
            return not self._refers(self._types[statement.value.name])
        if not isinstance(statement, ir.Assign) or not isinstance(statement.value, ir.Expr):
            return True
        made, refers = statement.value, self._refers(self._types[statement.target.name])
        if made.op == "call":
            return self._is_compiled_apart(made) and (not refers or self._makes_record(made))
        if made.op == "getitem":
            return not refers or self._is_place(self._types[made.index.name])
        return not refers or made.op in _BORROWING

    def _makes_record(self, call: Any) -> bool:
        return isinstance(self._types[call.func.name], types.NamedTupleClass)

    def _is_compiled_apart(self, call: Any) -> bool:
        """Say whether a function does its work on arrays in code of its own."""
        function = self._types[call.func.name]
        if isinstance(function, types.Dispatcher | types.NamedTupleClass):
            return True
        templates = getattr(function, "templates", ())
        if templates and all(hasattr(template, "_overload_func") for template in templates):
            return True
        return not any(self._refers(self._types[argument.name]) for argument in call.list_vars())

    def _is_place(self, index: Any) -> bool:
        """Say whether an index selects a part of an array in place, and not a copy."""
        parts = tuple(index) if isinstance(index, _TUPLE) else (index,)
        return all(isinstance(part, types.Integer | types.SliceType) for part in parts)
