"""Functions that only compiled code calls.

Numba makes machine code of every function as soon as it is compiled, and optimises it again, with all that it
calls, as a part of each caller. Both are wasted on a function that is never called from Python. So here such
a function stays what LLVM calls a module, which is optimised once, in the function that Python calls. That
function is compiled here as well: with all its parts, each included once.
"""

from __future__ import annotations

import gc
from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.typed_passes import AnnotateTypes

from pursuit.compiling.references import LeaveOutAllReferences, LeaveOutReferences


def _with_pass(pipelines: Any, added: Any) -> Any:
    """Return pipelines with a pass that needs types."""
    for pipeline in pipelines:
        pipeline.add_pass_after(added, AnnotateTypes)
        pipeline.finalize()
    return pipelines


class EntryCompiler(Compiler):
    """Compiles a function that Python calls, with all that it calls. Pass it to Numba as `pipeline_class`."""

    def compile_extra(self, func: Any) -> Any:
        """Return the function compiled.

        Meanwhile Python's garbage collector is off: the compiler makes millions of objects and keeps most of
        them, so collecting would take a sixth of the time and find little.
        """
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            if was_enabled:
                gc.enable()


class BorrowingEntryCompiler(EntryCompiler):
    """The same for a function that counts no references: an exception would leave what it counts behind."""

    def define_pipelines(self) -> Any:
        """Return what Numba does to a function, without counting."""
        return _with_pass(super().define_pipelines(), LeaveOutAllReferences)


class PartCompiler(Compiler):
    """Compiles a function to a part of its callers. Pass it to Numba as `pipeline_class`."""

    counting: Any = LeaveOutReferences
    """The pass that decides on counting references."""

    def define_pipelines(self) -> Any:
        """Return what Numba does to a function, which ends with code in a library: ours."""
        state = self.state
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        return _with_pass(super().define_pipelines(), self.counting)


class UncountedPartCompiler(PartCompiler):
    """The same for a function that counts no references. Pass it to Numba as `pipeline_class`."""

    counting = LeaveOutAllReferences


class _Part(JITCodeLibrary):
    """The code of a function before any optimisation."""

    _whole: Any = None
    """This and all that the function calls, once another library has asked for it."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Leave what the function calls where it is, until code that Python calls includes it."""
        for library in self._linking_libraries:
            if hasattr(library, "_reload_init"):  # from Numba 0.62 on
                self._reload_init.update(library._reload_init)
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """Return the function with all that it calls, once each."""
        if self._whole is None:
            self._whole = self._get_own_module().clone()
            for library in self._called():
                is_part = isinstance(library, _Part)
                module = library._get_own_module() if is_part else library._get_module_for_linking()
                self._whole.link_in(module, preserve=True)
        return self._whole

    def _get_own_module(self) -> Any:
        return super()._get_module_for_linking()

    def _called(self) -> list[Any]:
        """Return the libraries of all functions that are called from here, directly or not."""
        found: dict[Any, None] = {}
        waiting = list(self._linking_libraries)
        while waiting:
            library = waiting.pop()
            if library not in found:
                found[library] = None
                if isinstance(library, _Part):
                    waiting += library._linking_libraries
        found.pop(self, None)
        return list(found)

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """What Numba tells about environments, which only code that Python calls has."""
        return _NoEnvironment


class _NoEnvironment:
    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Do nothing."""


# `_Part` relies on undocumented parts of Numba; it was tested up to this version.
_TRIED = (0, 68)
_is_tried = numba.version_info.short <= _TRIED
AS_A_PART: Any = {"pipeline_class": PartCompiler} if _is_tried else {}
"""How to compile a function to a part of its callers; a later Numba compiles it like any other."""
_UNCOUNTED: Any = {"pipeline_class": UncountedPartCompiler} if _is_tried else {}
BORROWING_ENTRY: Any = BorrowingEntryCompiler if _is_tried else EntryCompiler
"""Compiles a function that Python calls, and that only works on what its arguments hold."""
# Its type hints do not cover all that it takes.
_njit: Any = numba.njit
WITHOUT_WRAPPERS: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Leave out what Python needs to call a function, which for a large state is most of the code."""
inner: Any = _njit(error_model="numpy", forceinline=False, **AS_A_PART, **WITHOUT_WRAPPERS)
"""Compile a function that only compiled code calls.

LLVM decides whether to inline it: if Numba were told to, it would also inline all that the function calls.
Divisions by zero give infinities and NaN, as with NumPy, and no exceptions.
"""
inlined: Any = _njit(forceinline=True, **AS_A_PART, **WITHOUT_WRAPPERS)
"""Compile a short function that is inlined into the compiled code that calls it."""
uncounted: Any = _njit(forceinline=False, **_UNCOUNTED, **WITHOUT_WRAPPERS)
"""Compile a function that counts no references to arrays, and must `release` what it gets from functions.

What it puts into a session is the session's from then on, and what was there before has to be released. What
it reads from a session or an argument stays theirs, and must not be released.
"""
