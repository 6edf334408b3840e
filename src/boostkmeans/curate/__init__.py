"""Curation of data with clusters: removal of near duplicates, and balanced samples."""

from boostkmeans._pairs.links import RowGroups
from boostkmeans.curate._duplicates.deduplication import deduplicate
from boostkmeans.curate._duplicates.missed_pairs import MissedPairs
from boostkmeans.curate._duplicates.result import Deduplication
from boostkmeans.curate._samples.coverage import ClusterSpread, Coverage, coverage
from boostkmeans.curate._samples.levels import ClusterLevels, fit_levels
from boostkmeans.curate._samples.sampling import sample

__all__ = [
    "ClusterLevels",
    "ClusterSpread",
    "Coverage",
    "Deduplication",
    "MissedPairs",
    "RowGroups",
    "coverage",
    "deduplicate",
    "fit_levels",
    "sample",
]
