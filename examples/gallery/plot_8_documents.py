"""
Topics of documents
===================

This example clusters thirty sentences without labels into three clusters, and shows the terms that make
up their centres. ``boostkmeans docs`` does the same on the command line.
"""

# %%
# The words get TF-IDF weights, each row is scaled to unit length, and a bisecting tree splits the rows
# by the cosine.

import matplotlib.pyplot as plt
from sklearn.decomposition import TruncatedSVD

from boostkmeans.documents import Weighting, cluster_documents, read_corpus

corpus = read_corpus("../sentences.txt")
found = cluster_documents(corpus, 3, weighting=Weighting(stop_words="english"), random_state=0)

# %%
# Each cluster gets a name. *Descriptive* terms make up its centre. *Central* documents have the highest
# cosine to it.

figure, grid = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
for i, (cluster, axes) in enumerate(zip(found.clusters, grid, strict=True)):
    terms = cluster.descriptive[:8][::-1]
    axes.barh([term.term for term in terms], [term.share for term in terms], color=f"C{i}")
    axes.set_title(cluster.name)
    print(f"{cluster.name}: {cluster.size} documents, most central: {cluster.central[0].snippet}")
plt.show()

# %%
# The rows remain sparse during the fit. A projection to two dimensions draws them as points.

flat = TruncatedSVD(3, random_state=0).fit_transform(found.documents.rows)
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.scatter(flat[:, 1], flat[:, 2], c=[f"C{label}" for label in found.labels])
axes.set(xticks=[], yticks=[], title="sentences by cluster")
plt.show()
