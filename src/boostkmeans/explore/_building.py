"""`page`: build an explorer page from a fitted model and its rows."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boostkmeans._estimators.centre_model import CentreModel
from boostkmeans._runtime.errors import ParameterError
from boostkmeans._runtime.parameter_checks import SEED, integer
from boostkmeans._runtime.progress import ProgressCallback, ignore_progress
from boostkmeans._steps.cluster_tree import ClusterTree
from boostkmeans.explore._contents.lengths import checked_coordinates
from boostkmeans.explore._contents.row_contents import RowContents
from boostkmeans.explore._contents.search_text import pack_ids
from boostkmeans.explore._contents.shown_rows import choose_rows
from boostkmeans.explore._layout.placing import place_rows, places_of_clusters, to_square
from boostkmeans.explore._measures.cluster_measures import measure_clusters
from boostkmeans.explore._measures.explored_rows import ExploredRows
from boostkmeans.explore._measures.node_measures import measure_nodes
from boostkmeans.explore._measures.row_measures import labels_of_fit, measure_rows
from boostkmeans.explore._names import Namer, find_names, name_nodes
from boostkmeans.explore._packages import import_jinja2, import_pillow
from boostkmeans.explore._payload.assembling import (
    FORMAT,
    Described,
    clusters_payload,
    points_payload,
    rows_payload,
    search_payload,
)
from boostkmeans.explore._payload.fit import facts_of, history_payload
from boostkmeans.explore._payload.tree import describe_nodes, separation_sentences, tree_payload
from boostkmeans.explore._rendering import render
from boostkmeans.explore._result import Page

# Bytes of the page for texts, thumbnails and values of rows.
MAX_BYTES = 20_000_000
# Part of these bytes that terms of merged clusters may take: one part in 10.
NODES_SHARE = 10


def page(
    model: CentreModel,
    X: Any,
    *,
    texts: Iterable[str] | None = None,
    images: Iterable[Any] | None = None,
    table: Any = None,
    coordinates: Any = None,
    ids: Iterable[Any] | None = None,
    title: str | None = None,
    names: Iterable[str] | None = None,
    namer: Namer | None = None,
    max_bytes: int = MAX_BYTES,
    random_state: int = 0,
    n_threads: int | None = None,
    progress: ProgressCallback | None = None,
    command: str | None = None,
) -> Page:
    """Build a page that shows the clusters of a fitted model.

    The page is one HTML file. It needs no server and makes no request. This requires the extra
    `explore`.

    Parameters
    ----------
    model : estimator
        Fitted estimator of this package, for example `BoostKMeans`.
    X : array-like, sparse matrix or vectors of shape (n_samples, n_features)
        Rows to show. Rows from `boostkmeans.io.open_vectors` are read in batches. If the model has as
        many labels and they fit these rows, the page shows them. Otherwise, labels are predicted.
    texts : iterable of str, default=None
        Text of each row. The clusters are named after their texts.
    images : iterable of paths, default=None
        Image file of each row, of which the page shows thumbnails.
    table : data frame or dict of columns, default=None
        Table with one row per row of X: a data frame of pandas or polars, a table of pyarrow, or a dict.
    coordinates : array-like of shape (n_samples, 2), default=None
        Place of each row on the map. By default, places are computed from the clusters.
    ids : iterable, default=None
        Id of each row, for search and downloads. By default, images have their file names, and other
        rows have no ids.
    title : str, default=None
        Title of the page.
    names : iterable of str, default=None
        Name of each cluster, instead of generated names.
    namer : callable, default=None
        Function called as ``namer(texts, terms)`` for each cluster, which returns its name. It needs
        `texts`.
    max_bytes : int, default=20_000_000
        Limit for the texts, thumbnails and values in the page. The page says what it leaves out.
    random_state : int, default=0
        Seed of the layout. The same seed gives the same page, for any number of threads.
    n_threads : int, default=None
        Number of threads. None uses all processors available to this process.
    progress : callable, default=None
        Function called as ``progress(what, done, total)``.
    command : str, default=None
        Command that the page shows as its origin.

    Returns
    -------
    Page
        The page, with the attribute `html` and the method `save`. Notebooks display it.

    Examples
    --------
    >>> import numpy as np
    >>> from boostkmeans import BoostKMeans
    >>> from boostkmeans.explore import page
    >>> X = np.array([[0.0, 0], [0, 1], [9, 9], [9, 8]])
    >>> model = BoostKMeans(n_clusters=2, random_state=0).fit(X)
    >>> shown = page(model, X, texts=["a cat", "the cat", "a car", "my car"])
    >>> sorted(shown.names)
    ['car', 'cat']
    """
    _check_parameters(model, max_bytes, random_state)
    import_jinja2()  # missing packages are reported before the work begins
    if images is not None:
        import_pillow()
    report = progress or ignore_progress
    rows = ExploredRows(model, X, n_threads)
    n = rows.n_rows
    contents = RowContents.checked(n, ids=ids, texts=texts, images=images, table=table)
    places = None if coordinates is None else checked_coordinates(coordinates, n)
    measures = measure_rows(rows, labels_of_fit(model, n), report)
    clusters = measure_clusters(rows, measures)
    tree = getattr(model, "tree_", None)
    tree = tree if isinstance(tree, ClusterTree) and tree.n_leaves == len(clusters.sizes) else None
    naming = find_names(contents, measures.labels, clusters, tree, names, namer, report)
    if places is None:
        places = place_rows(rows, measures.labels, random_state, report)
    square = to_square(places)
    at = places_of_clusters(square, measures.labels, len(clusters.sizes))
    described = Described(measures, clusters, square, at, naming, contents)

    report("writing the page", 0, None)
    ids_of_all, left_out = pack_ids(contents, n, max_bytes // 2)
    reserved = 0 if ids_of_all is None else len(ids_of_all["data"])
    nodes, n_bytes, terms_left_out = (
        ([], 0, []) if tree is None else describe_nodes(naming, tree, max_bytes // NODES_SHARE)
    )
    reserved += n_bytes
    shown, omitted = choose_rows(contents, clusters, n, max_bytes, rows.n_threads, report, reserved)
    omitted += left_out if len(shown.rows) < n else []
    omitted += terms_left_out
    omitted += [] if tree is None else separation_sentences(tree)
    points, left_out = points_payload(described, shown, random_state)
    omitted += left_out
    search, left_out = search_payload(
        contents, ids_of_all if len(shown.rows) < n else None, max_bytes - shown.n_bytes
    )
    omitted += left_out
    history, note = history_payload(model)
    title = title or _default_title(contents.kind, n, len(clusters.sizes))
    payload = {
        "format": FORMAT,
        "title": title,
        "kind": contents.kind,
        "n_rows": n,
        "n_clusters": len(clusters.sizes),
        "n_features": rows.n_features,
        "points": points,
        "clusters": clusters_payload(described, shown),
        "rows": rows_payload(described, shown),
        "columns": None if contents.table is None else contents.table.names,
        "search": search,
        "tree": None
        if tree is None
        else tree_payload(
            tree,
            measure_nodes(rows, tree, clusters, at),
            name_nodes(naming, tree, clusters),
            nodes,
        ),
        "history": history,
        "history_note": note,
        "facts": facts_of(model, n, float(np.mean(measures.distances**2))),
        "command": command,
        "omitted": omitted,
    }
    return Page(
        html=render(payload),
        title=title,
        n_rows=n,
        names=naming.names,
        omitted=omitted,
        columns=_export_columns(described, places),
    )


def _check_parameters(model: Any, max_bytes: Any, random_state: Any) -> None:
    if not isinstance(model, CentreModel):
        raise ParameterError(
            "model", "a fitted estimator of this package, such as BoostKMeans", model, owner="page"
        )
    check_is_fitted(model, "cluster_centers_")
    for name, allowed, value in (
        ("max_bytes", integer(0), max_bytes),
        ("random_state", SEED, random_state),
    ):
        if not allowed.accepts(value):
            raise ParameterError(name, allowed.expected, value, owner="page")


def _default_title(kind: str, n_rows: int, n_clusters: int) -> str:
    thing = {"text": "text", "image": "image", "table": "row", "vector": "vector"}[kind]
    things = thing if n_rows == 1 else f"{thing}s"
    clusters = "cluster" if n_clusters == 1 else "clusters"
    return f"{n_rows:,} {things} in {n_clusters:,} {clusters}"


def _export_columns(described: Described, places: Any) -> dict[str, Any]:
    contents, labels = described.contents, described.rows.labels
    names = np.array(described.naming.names, dtype=object)
    found: dict[str, Any] = {
        "x": places[:, 0],
        "y": places[:, 1],
        "cluster": labels,
        "name": names[labels],
    }
    if contents.has_ids:
        found["id"] = [contents.id_of(row) for row in range(len(labels))]
    if contents.texts is not None:
        found["text"] = contents.texts
    return found
