"""
What documents are about
========================

Thirty sentences, of which nobody says what they are about, into three clusters; and the terms that
make up their centres. ``boostkmeans docs`` does the same on the command line.
"""

# %%
# TF-IDF weights of the words, rows of unit length, and a tree of splits by the cosine.

import matplotlib.pyplot as plt
from sklearn.decomposition import TruncatedSVD

from boostkmeans.documents import Weighting, cluster_documents, read_corpus

corpus = read_corpus("../sentences.txt")
found = cluster_documents(corpus, 3, weighting=Weighting(stop_words="english"), random_state=0)

# %%
# *Descriptive* terms are those that make up the centre, *central* documents those with the highest
# cosine to it.

figure, grid = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
for i, (cluster, axes) in enumerate(zip(found.clusters, grid, strict=True)):
    terms = cluster.descriptive[:8][::-1]
    axes.barh([term.term for term in terms], [term.share for term in terms], color=f"C{i}")
    axes.set_title(f"{cluster.size} documents")
    print(f"{cluster.size} documents, most central: {cluster.central[0].snippet}")
plt.show()

# %%
# The rows are sparse and stay so. For a picture of them, a projection to two dimensions will do.

flat = TruncatedSVD(3, random_state=0).fit_transform(found.documents.rows)
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.scatter(flat[:, 1], flat[:, 2], c=[f"C{label}" for label in found.labels])
axes.set(xticks=[], yticks=[], title="sentences by cluster")
plt.show()
