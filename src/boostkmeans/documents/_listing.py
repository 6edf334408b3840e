"""Listing of document clusters for a terminal. Untrusted text in it is escaped."""

from typing import Any

from boostkmeans._runtime.untrusted_text import escape_untrusted

# Maximum number of skipped or empty documents that are listed by name.
MAX_NAMES = 5
# Maximum number of classes that are shown per cluster.
MAX_CLASSES = 3
# Minimum share of a class in a cluster for which the class is shown.
MIN_CLASS_SHARE = 0.01


def listing(result: dict[str, Any]) -> str:
    """Format the result of `DocumentClusters.to_dict`."""
    parts = [_summary(result)]
    parts += [_cluster(cluster) for cluster in result["clusters"]]
    return "\n\n".join(parts)


def _summary(result: dict[str, Any]) -> str:
    lines = [
        f"{escape_untrusted(result['source'])}: {_counted(result['n_documents'], 'document')}, "
        f"{_counted(result['n_terms'], 'term')}, {_counted(result['n_nonzeros'], 'non-zero')}",
        f"{_counted(len(result['clusters']), 'cluster')} ({result['method']}), {_objective(result)}",
    ]
    skipped = [f"{document['name']} ({document['reason']})" for document in result["skipped"]]
    lines += _name_documents("skipped", skipped)
    lines += _name_documents("without terms", result["empty"])
    if result["n_blank"]:
        lines.append(_counted(result["n_blank"], "blank line"))
    if result["scores"] is not None:
        entropy, purity, nmi = (result["scores"][name] for name in ("entropy", "purity", "nmi"))
        lines.append(f"entropy {entropy:.4f}, purity {purity:.4f}, NMI {nmi:.4f}")
    return "\n".join(lines)


def _objective(result: dict[str, Any]) -> str:
    if result["criterion"] is None:
        return f"inertia {result['inertia']:.6g}"
    return f"criterion {result['criterion']} {result['objective']:.6g}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def _name_documents(what: str, names: list[str]) -> list[str]:
    """Return a line with the number of documents and the first few names, or no line."""
    if not names:
        return []
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return [f"{len(names)} {what}: {', '.join(map(escape_untrusted, names[:MAX_NAMES]))}{more}"]


def _cluster(cluster: dict[str, Any]) -> str:
    number, size = cluster["number"], cluster["size"]
    facts = _counted(size, "document")
    if size:
        facts += f", similarity {cluster['similarity']:.3f}"
    lines = [f"cluster {number}: {escape_untrusted(cluster['name'])} ({facts})"]
    if cluster["classes"]:
        known = sum(cluster["classes"].values())
        some = [(escape_untrusted(name), count / known) for name, count in cluster["classes"].items()]
        shares = ", ".join(
            f"{name} {share:.0%}" for name, share in some[:MAX_CLASSES] if share >= MIN_CLASS_SHARE
        )
        lines.append(f"  {'classes':14} {shares}")
    for what in ("descriptive", "discriminating"):
        terms = [f"{escape_untrusted(one['term'])} {one['share']:.1%}" for one in cluster[what]]
        if terms:
            lines.append(f"  {what:14} {', '.join(terms)}")
    for i, document in enumerate(cluster["central"]):
        text = "" if document["snippet"] is None else f"  {escape_untrusted(document['snippet'])}"
        name = escape_untrusted(document["name"])
        lines.append(f"  {'' if i else 'central':14} {document['similarity']:.3f} {name}{text}")
    return "\n".join(lines)
