"""Listing of image clusters for a terminal. Names of files in it are escaped."""

from typing import Any

from boostkmeans._runtime.untrusted_text import escape_untrusted

# Maximum number of images, or of groups of duplicates, that are listed by name.
MAX_NAMES = 5
MAX_GROUPS = 20


def listing(result: dict[str, Any]) -> str:
    """Format the result of `ImageClusters.to_dict`."""
    parts = [_summary(result)]
    parts += [_cluster(cluster) for cluster in result["clusters"]]
    parts += _duplicates(result["duplicates"])
    return "\n\n".join(parts)


def _summary(result: dict[str, Any]) -> str:
    lines = [
        f"{escape_untrusted(result['source'])}: {_counted(result['n_images'], 'image')}, "
        f"{_counted(result['n_features'], 'feature')} ({escape_untrusted(result['features'])})",
        f"{_counted(len(result['clusters']), 'cluster')} ({result['method']}), "
        f"inertia {result['inertia']:.6g}",
    ]
    skipped = [f"{escape_untrusted(one['name'])} ({one['reason']})" for one in result["skipped"]]
    lines += _named("skipped", skipped)
    lines += _named("without keypoints", list(map(escape_untrusted, result["without_keypoints"])))
    return "\n".join(lines)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"


def _named(what: str, names: list[str]) -> list[str]:
    """Return a line with the number of images and the first few names, or no line."""
    return [f"{len(names):,} {what}: {_some(names)}"] if names else []


def _some(names: list[str]) -> str:
    more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
    return f"{', '.join(names[:MAX_NAMES])}{more}"


def _cluster(cluster: dict[str, Any]) -> str:
    head = f"cluster {cluster['number']}: {_counted(cluster['size'], 'image')}"
    if cluster["size"]:
        head += f", similarity {cluster['similarity']:.3f}"
    lines = [head]
    for i, image in enumerate(cluster["central"]):
        name = escape_untrusted(image["name"])
        lines.append(f"  {'' if i else 'central':8} {image['similarity']:.3f} {name}")
    return "\n".join(lines)


def _duplicates(groups: list[dict[str, Any]] | None) -> list[str]:
    if groups is None:
        return []
    n_images = sum(len(group["names"]) for group in groups)
    lines = [f"near duplicates: {_counted(len(groups), 'group')}, {_counted(n_images, 'image')}"]
    for group in groups[:MAX_GROUPS]:
        kind = "identical" if group["identical"] else f"{group['similarity']:.3f}"
        lines.append(f"  {kind:9} {_some(list(map(escape_untrusted, group['names'])))}")
    if len(groups) > MAX_GROUPS:
        lines.append(f"  and {_counted(len(groups) - MAX_GROUPS, 'group')} more")
    return ["\n".join(lines)]
