"""Section of `docs/benchmarks.md` about names of clusters."""

from environment import Json
from page import table, versions


def names_section(result: Json) -> str:
    """Return the share of names that name the majority class, and examples."""
    rows = [
        [one["title"], *(f"{one[key]:.0%}" for key in ("share", "share_of_pure", "chance"))]
        for one in result["data"]
    ]
    examples = [
        [one["name"], f"{one['size']:,}", f"{one['majority_class']}, {one['majority_share']:.0%}"]
        for data in result["data"]
        for one in data["examples"]
    ]
    n_seeds = len(result["data"][0]["runs"])
    header = ["data", "all clusters", "clusters with a class of at least half", "chance"]
    return (
        f"## Names of clusters\n\n{versions(result)}.\n\n"
        "Share of the names that contain a characteristic word of the majority class of their cluster; "
        f"means of {n_seeds} seeds. The characteristic words of a class are the "
        f"{result['n_class_terms']} with the largest c-TF-IDF, among those that are at least "
        f"{result['min_ratio']} times as frequent as in the mean of all classes. *Chance* is the share "
        f"with the names of other clusters.\n\n{table(header, rows)}\n"
        f"Examples, evenly spaced among the clusters of the first seed:\n\n"
        f"{table(['name', 'rows', 'majority class'], examples)}"
    )


SECTIONS = {"cluster_names": names_section}
