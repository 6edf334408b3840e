"""Share of the texts of each cluster that contain a phrase."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from boostkmeans._runtime.progress import ProgressCallback
from boostkmeans.documents._names.phrases import Phrases
from boostkmeans.documents._names.sample import Ints, texts_at

Floats = NDArray[np.float64]

# Number of phrases that are kept per cluster: the most frequent ones.
MAX_PHRASES = 1500
# In clusters of at least this number of texts, phrases of a single text are ignored.
MIN_TEXTS_FOR_PRUNING = 8
# Weight of a spelling whose case is informative, compared with one at the beginning of a sentence.
CLEAR = 1000
# Longer words in capitals are emphasis or datelines, not acronyms.
MAX_ACRONYM = 5
# Number of clusters between two reports of progress.
CLUSTERS_PER_REPORT = 20


@dataclass(frozen=True)
class PhraseShares:
    """Phrases of all clusters, and the share of the texts of each cluster that contain them."""

    shares: csr_array
    """Shares between 0 and 1, one row per cluster and one column per phrase."""
    keys: list[str]
    """Key of each phrase: its words in lower case, as singulars."""
    written: list[dict[int, str]]
    """For each cluster, the usual spelling of the phrases whose spelling differs from the key."""

    def of_phrase(self, phrase: int) -> dict[int, float]:
        """Return the share of a phrase in each cluster that has it."""
        part = slice(*self._by_phrase.indptr[phrase : phrase + 2])
        indices, values = self._by_phrase.indices[part], self._by_phrase.data[part]
        return dict(zip(indices.tolist(), values.tolist(), strict=True))

    @cached_property
    def _by_phrase(self) -> csc_array:
        return csc_array(self.shares)

    def spelling(self, cluster: int, phrase: int) -> str:
        """Return the phrase as the texts of the cluster usually write it."""
        return self.written[cluster].get(phrase, self.keys[phrase])


def count_phrases(
    texts: Sequence[str], members: list[Ints], finder: Phrases, progress: ProgressCallback
) -> PhraseShares:
    """Count the phrases in a sample of each cluster, one cluster at a time."""
    numbers: dict[str, int] = {}
    rows: list[list[int]] = []
    values: list[Floats] = []
    written: list[dict[int, str]] = []
    for cluster, where in enumerate(members):
        if cluster % CLUSTERS_PER_REPORT == 0:
            progress("naming clusters", cluster, len(members))
        counts, spellings = _count_cluster(texts_at(texts, where), finder)
        rows.append([numbers.setdefault(key, len(numbers)) for key in counts])
        values.append(np.array(list(counts.values()), dtype=np.float64) / max(len(where), 1))
        written.append({numbers[key]: spelling for key, spelling in spellings.items()})
    progress("naming clusters", len(members), len(members))
    starts = np.cumsum([0, *map(len, rows)])
    indices = np.array([number for row in rows for number in row], dtype=np.int64)
    data = np.concatenate(values) if values else np.empty(0)
    shares = csr_array((data, indices, starts), shape=(len(members), max(len(numbers), 1)))
    return PhraseShares(shares, list(numbers) or [""], written)


def _count_cluster(texts: list[str], finder: Phrases) -> tuple[dict[str, int], dict[str, str]]:
    """Return the number of texts that contain each frequent phrase, and unusual spellings."""
    found = [list(finder.of(text)) for text in texts]
    # A dict keeps the order of the text. That of a set would differ between two processes.
    counts = Counter(key for phrases in found for key in dict.fromkeys(key for key, _, _ in phrases))
    least = 2 if len(texts) >= MIN_TEXTS_FOR_PRUNING else 1
    kept = {key: n for key, n in counts.most_common(MAX_PHRASES) if n >= least}
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for phrases in found:
        for key, written, informative in phrases:
            if key in kept:
                clear = informative and not (written.isupper() and len(written) > MAX_ACRONYM)
                spellings[key][written] += CLEAR if clear else 1
    usual = {key: forms.most_common(1)[0][0] for key, forms in spellings.items()}
    return kept, {key: form for key, form in usual.items() if form != key}
