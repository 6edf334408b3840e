"""Reading and writing of fitted estimators.

The functions work for every estimator class that declares a `ModelLayout`, which describes the content
of its files. They do not import estimators, so that estimators can use them.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from boostkmeans._runtime.errors import DataFormatError
from boostkmeans._runtime.untrusted_text import escape_untrusted
from boostkmeans._storage import parameters as stored_parameters
from boostkmeans._storage.fields import SAVE_AGAIN, Fields
from boostkmeans._storage.tensor_checks import Checker
from boostkmeans._storage.tensors import read_tensors, write_tensors

Tensors = Mapping[str, NDArray[Any]]


class Content(NamedTuple):
    """Fields and tensors that describe a fitted estimator, without its parameters."""

    header: dict[str, Any]
    tensors: dict[str, NDArray[Any]]


class ModelLayout(ABC):
    """Content of the files of some estimator classes."""

    format_name: ClassVar[str]
    version: ClassVar[int]
    """Version of the format that is written. Older versions can be read."""
    subject: ClassVar[str]
    """Name of the estimator in error messages, e.g. "The model"."""
    fitted_attribute: ClassVar[str]
    """Attribute that only a fitted estimator has."""
    stores_class: ClassVar[bool] = False
    """True if the file names the class of the estimator."""
    estimator_parameters: ClassVar[tuple[str, ...]] = ()
    """Parameters that hold other estimators, which are not stored."""

    @abstractmethod
    def content(self, model: Any, *, labels: bool) -> Content:
        """Return the content of the file of a fitted model, with or without values per row."""

    @abstractmethod
    def check(self, check: Checker, model: Any, header: Fields, tensors: Tensors) -> None:
        """Raise DataFormatError unless the content describes a valid model.

        Only the parameters of `model` are used.
        """

    @abstractmethod
    def attributes(self, header: Fields, tensors: Tensors) -> dict[str, Any]:
        """Return the fitted attributes that checked content describes."""


class Storable(Protocol):
    """An estimator class that can be saved."""

    _layout: ClassVar[ModelLayout]

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...

    def _check_parameters(self) -> None: ...


AnyModel = TypeVar("AnyModel", bound=Storable)


class StoredModel(NamedTuple):
    """Content of a model file. The header and the tensors are not checked yet."""

    header: Fields
    tensors: dict[str, NDArray[Any]]


def write_model(model: Storable, path: str | os.PathLike[str], *, labels: bool = True) -> None:
    """Write a fitted estimator to a file, with or without values per row."""
    layout, content = model._layout, model_content(model, labels=labels)
    write_tensors(path, layout.format_name, layout.version, content.header, content.tensors)


def model_content(model: Storable, *, labels: bool) -> Content:
    """Return the header and all tensors of a fitted estimator, with or without values per row."""
    layout, name = model._layout, _name_in_files(type(model))
    if name is None:
        raise TypeError(
            f"Cannot save {type(model).__name__}: only the estimators of boostkmeans can be restored "
            "from a model file. Use joblib, or save an instance of the base class."
        )
    check_is_fitted(model, layout.fitted_attribute)
    model._check_parameters()
    parameters = stored_parameters.encode(model.get_params(deep=False), layout.estimator_parameters)
    content = layout.content(model, labels=labels)
    names = getattr(model, "feature_names_in_", None)
    header = {
        **({"estimator": name} if layout.stores_class else {}),
        "parameters": parameters.plain,
        "not_stored": parameters.not_stored,
        "feature_names": None if names is None else [str(name) for name in names],
        **content.header,
    }
    # Users can modify the attributes. A model that could not be loaded again must not be written.
    check = Checker("Fit it again.", subject=layout.subject)
    layout.check(check, model, Fields("", layout.subject, header, "Fit it again."), content.tensors)
    return Content(header, {**content.tensors, **parameters.tensors})


def read_model(estimator: type[AnyModel], path: str | os.PathLike[str]) -> AnyModel:
    """Return the estimator that `write_model` wrote. Its class must be `estimator`."""
    stored = open_model(estimator._layout, path)
    if estimator._layout.stores_class:
        name = stored.header.string("estimator")
        if name != _name_in_files(estimator):
            raise DataFormatError(
                f"Expected a model of class {estimator.__name__}. Got {escape_untrusted(name)}.",
                file=stored.header.path,
                remedy="Use boostkmeans.load_model, which reads models of every class.",
            )
    return restore_model(estimator, stored)


def open_model(layout: ModelLayout, path: str | os.PathLike[str]) -> StoredModel:
    """Read a file of this layout, for `restore_model`."""
    _, values, tensors = read_tensors(path, layout.format_name, layout.version)
    return StoredModel(Fields.of(escape_untrusted(os.fspath(path)), "header", values), tensors)


def restore_model(estimator: type[AnyModel], stored: StoredModel) -> AnyModel:
    """Return the fitted estimator that a file describes. Raise DataFormatError if it is not valid."""
    layout, header = estimator._layout, stored.header
    decoded = stored_parameters.decode(header, stored.tensors, estimator, layout.estimator_parameters)
    try:
        model = estimator(**decoded.arguments)
        model._check_parameters()
    except (ValueError, TypeError, OverflowError) as error:
        raise DataFormatError(
            escape_untrusted(str(error)), file=header.path, place="header.parameters", remedy=SAVE_AGAIN
        ) from None
    tensors = {n: tensor for n, tensor in stored.tensors.items() if n not in decoded.tensor_names}
    layout.check(Checker(SAVE_AGAIN, file=header.path), model, header, tensors)
    attributes = layout.attributes(header, tensors)
    attributes |= _feature_names(header, attributes.get("n_features_in_", 0))
    # All attributes are set at once, so that a model is never partly loaded.
    model.__dict__.update(attributes)
    return model


def _name_in_files(estimator: type[Any]) -> str | None:
    """Return the name of a class in files, or None for classes that are not part of boostkmeans.

    A subclass does not inherit the name: a file could not tell where to import it from.
    """
    name: str | None = vars(estimator).get("_model_name")
    return name


def _feature_names(header: Fields, n_features: int) -> dict[str, Any]:
    """Return the attribute that holds the feature names, if the file has them."""
    if header.values.get("feature_names") is None:
        return {}
    names = header.items("feature_names")
    if len(names) != n_features or not all(isinstance(name, str) for name in names):
        header.fail("feature_names", f"{n_features} strings", names)
    return {"feature_names_in_": np.array(names, dtype=object)}
