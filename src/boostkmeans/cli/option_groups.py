"""Groups of options that several commands share, declared once as dataclasses."""

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import Field, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints


class Without:
    """Options of a group that a command does not have. They keep their default values.

    Used as `Annotated[Group, Without("name")]`.
    """

    def __init__(self, *names: str) -> None:
        self.names = names


def expand_option_groups(function: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter that is an option group by one parameter per option.

    Typer builds its options from the signature of the returned function.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int = 3
    ...     height: int = 4
    >>> @expand_option_groups
    ... def draw(name: str, *, size: Annotated[Size, Without("height")]) -> None:
    ...     print(name, size)
    >>> list(inspect.signature(draw).parameters)
    ['name', 'width']
    >>> draw(name="box", width=5)
    box Size(width=5, height=4)
    """
    signature = inspect.signature(function)
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, tuple[type[Any], list[str]]] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        kind, without = _split(hints[parameter.name])
        if isinstance(kind, type) and is_dataclass(kind):
            added = list(_options(kind, without))
            groups[parameter.name] = (kind, [option.name for option in added])
            parameters += added
        else:
            parameters.append(
                parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)
            )

    @functools.wraps(function)
    def wrapper(**values: Any) -> None:
        for name, (kind, options) in groups.items():
            values[name] = kind(**{option: values.pop(option) for option in options})
        function(**values)

    wrapper.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {one.name: one.annotation for one in parameters}
    return wrapper


def _split(annotation: Any) -> tuple[Any, tuple[str, ...]]:
    """Return the annotated type, and the options to leave out."""
    if get_origin(annotation) is not Annotated:
        return annotation, ()
    kind, *marks = get_args(annotation)
    return kind, tuple(name for mark in marks if isinstance(mark, Without) for name in mark.names)


def _options(group: type[Any], without: tuple[str, ...]) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    option: Field[Any]
    for option in fields(group):
        if option.name not in without:
            yield inspect.Parameter(
                option.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=option.default,
                annotation=hints[option.name],
            )
