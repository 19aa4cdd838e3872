"""Numbers and words in memory, of whatever library, as NumPy arrays of the types that files store.

A value that the stored type cannot hold is an error that names it and its position; only floats are rounded.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LARGEST = np.iinfo(np.int64).max
# Integers up to this are exact as float64.
_EXACT = 2**53
_MISSING = ("NAType", "NaTType")


def as_numpy(values: Any) -> NDArray[Any]:
    """Give an array of anything that NumPy, torch and other libraries hold; integers stay integers."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(
            "masked arrays are not read, because their mask would be lost; give array.filled(...)"
        )
    library = type(values).__module__.partition(".")[0]
    if hasattr(values, "detach"):
        values = _from_torch(values)
    elif library == "pandas":
        values = _from_pandas(values)
    elif library == "polars" and hasattr(values, "to_numpy"):
        has_gaps = values.null_count() > 0 and values.dtype.is_integer()
        values = _objects(values.to_list()) if has_gaps else values.to_numpy()
    elif library == "pyarrow" and hasattr(values, "to_numpy"):
        values = _from_arrow(values)
    return np.asarray(values)


def is_sparse(values: Any) -> bool:
    """Tell whether this is a sparse matrix of SciPy."""
    sparse: Any = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(values))


def ids_of(values: Any, what: str) -> NDArray[Any] | list[str]:
    """Ids as a contiguous array of int32, int64, uint32 or uint64, or as words."""
    array = typed(as_numpy(values))
    if array.ndim != 1:
        raise ValueError(f"{what} must have one dimension, found shape {array.shape}")
    if array.dtype.kind in "OUST":
        return words_of(array, what)
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind not in "iu":
        remedy = "give array.astype('int64') if they are whole and none is missing"
        raise TypeError(f"{what} must be integers or words, found {array.dtype}; {remedy}")
    _refuse_large(array, what, "ids below 2^63")
    native = array.dtype.isnative and array.dtype.itemsize >= 4
    return np.ascontiguousarray(array if native else array.astype(np.int64))


def weights_of(values: Any) -> NDArray[np.float32]:
    """Weights of edges as float32; those that are no weights are left for the build to name."""
    array = typed(as_numpy(values))
    _check_vector(array, "weights")
    if array.size == 0:
        return np.zeros(0, np.float32)
    if array.dtype.kind not in "iufb" or array.dtype.itemsize > 8:
        raise TypeError(f"weights must be numbers, found {array.dtype}")
    with np.errstate(over="ignore", under="ignore"):
        weights = np.ascontiguousarray(array, dtype=np.float32)
    for bad, why in (
        (np.isinf(weights) & np.isfinite(array), "at most 3.4e38"),
        ((weights == 0) & (array != 0), "0 or at least 1.4e-45"),
    ):
        if bad.any():
            at = int(np.argmax(bad))
            raise ValueError(
                f"weights are stored as float32: found {array[at]} at position {at}, expected {why}; "
                "scale the weights"
            )
    return weights


def times_of(values: Any) -> NDArray[np.int64]:
    """Times of edges as int64; dates count in their own unit from 1970 on."""
    array = typed(as_numpy(values))
    _check_vector(array, "times")
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind in "Mm":
        missing = np.isnat(array)
        if missing.any():
            raise ValueError(
                f"times have no value (NaT) at position {int(np.argmax(missing))}, expected one for each edge; "
                "fill it or leave the edge out"
            )
    elif array.dtype.kind not in "iu":
        remedy = "give array.astype('int64') if they are whole and none is missing"
        raise TypeError(f"times must be integers or dates, found {array.dtype}; {remedy}")
    _refuse_large(array, "times", "integers below 2^63")
    return np.ascontiguousarray(array.astype(np.int64, copy=False))


def typed(array: NDArray[Any]) -> NDArray[Any]:
    """Give an array of objects the type of its numbers, if it holds nothing but numbers of one kind and gaps.

    Integers among which some are missing stay objects: float64, the usual answer, does not hold all of them.
    """
    if array.dtype.kind != "O" or array.size == 0:
        return array
    values = array.ravel().tolist()
    given = [value for value in values if not is_missing(value)]
    if given and all(isinstance(value, (bool, np.bool_)) for value in given):
        return array.astype(np.bool_) if len(given) == len(values) else array
    if any(isinstance(value, (bool, np.bool_)) for value in given):
        return array
    if given and all(isinstance(value, (int, np.integer)) for value in given):
        if len(given) < len(values):
            return array
        wide = np.uint64 if max(given) > _LARGEST and min(given) >= 0 else np.int64
        limits = np.iinfo(wide)
        outside = [value for value in given if not limits.min <= value <= limits.max]
        if outside:
            raise ValueError(f"found {outside[0]}, expected integers of 64 bits")
        return array.astype(wide)
    if given and all(isinstance(value, (int, float, np.integer, np.floating)) for value in given):
        inexact = [v for v in given if isinstance(v, (int, np.integer)) and int(float(v)) != v]
        if inexact:
            raise ValueError(f"found {inexact[0]} among fractions, which float64 cannot hold")
        floats = [np.nan if is_missing(value) else float(value) for value in values]
        return np.array(floats, dtype=np.float64).reshape(array.shape)
    return array


def words_of(array: NDArray[Any], what: str) -> list[str]:
    """Words as they are; a missing one is empty, and integers among them are their digits."""
    words = []
    for value in array.tolist():
        if is_missing(value):
            words.append("")
        elif isinstance(value, bytes):
            words.append(value.decode())
        elif isinstance(value, (str, int, np.integer)) and not isinstance(value, bool):
            words.append(str(value))
        else:
            kind = type(value).__name__
            raise TypeError(f"{what}: found {value!r} of type {kind}, expected words or integers")
    return words


def raw_rows(rows: Any) -> tuple[NDArray[np.uint8], str, tuple[int, ...]]:
    """Bytes of rows of numbers, what their type is called, and their shape."""
    if is_sparse(rows):
        rows = rows.toarray()
    if str(getattr(rows, "dtype", "")) == "torch.bfloat16":
        # NumPy has no bfloat16, but its bits fit anywhere.
        import torch

        array, name = rows.detach().cpu().contiguous().view(torch.int16).numpy(), "bfloat16"
    else:
        array = typed(as_numpy(rows))
        name = number_name(array.dtype)
    array = np.ascontiguousarray(array)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array.reshape(-1).view(np.uint8), name, tuple(array.shape)


def number_name(dtype: np.dtype[Any]) -> str:
    """The name of a type whose numbers tables can be made of."""
    if dtype.kind in "biuf" and dtype.itemsize <= 8:
        return str(dtype.name)
    if dtype.kind in "Mm":
        raise TypeError(
            f"a table cannot store {dtype}; give array.astype('int64'), which counts the units from 1970 on"
        )
    raise TypeError(
        f"a table cannot store {dtype}; it stores integers, floats of up to 64 bits and bools"
    )


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for one that is not there: None, NaN, and pandas' NA and NaT."""
    if value is None or type(value).__name__ in _MISSING:
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def _check_vector(array: NDArray[Any], what: str) -> None:
    if array.ndim != 1:
        raise ValueError(f"{what} must have one dimension, found shape {array.shape}")


def _refuse_large(array: NDArray[Any], what: str, expected: str) -> None:
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and int(array.max()) > _LARGEST:
        at = int(np.argmax(array))
        raise ValueError(f"{what}: found {int(array[at])} at position {at}, expected {expected}")


def _from_torch(tensor: Any) -> Any:
    tensor = tensor.detach().cpu()
    if str(tensor.layout) != "torch.strided":
        raise TypeError(
            f"a sparse tensor is not read here: found the layout {tensor.layout}; give tensor.to_dense()"
        )
    # Every bfloat16 is a float32.
    return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()


def _from_pandas(values: Any) -> Any:
    if not hasattr(values, "to_numpy"):
        return values
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "tz", None) is not None:
        # Objects otherwise.
        return values.array.tz_convert("UTC").tz_localize(None).to_numpy()
    nullable = type(getattr(dtype, "na_value", None)).__name__ == "NAType"
    if nullable and getattr(dtype, "kind", "O") in "biu" and values.isna().any():
        return _objects(values.array.to_numpy(dtype=object, na_value=None))
    return values.to_numpy()


def _from_arrow(values: Any) -> Any:
    import pyarrow.types

    has_nan_or_nat = pyarrow.types.is_floating(values.type) or pyarrow.types.is_temporal(
        values.type
    )
    if values.null_count and not has_nan_or_nat:
        return _objects(values.to_pylist())
    # Neither words nor chunks can be seen without a copy.
    return values.to_numpy() if hasattr(values, "chunks") else values.to_numpy(zero_copy_only=False)


def _objects(values: Any) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
