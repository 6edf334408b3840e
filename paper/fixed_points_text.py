"""Texts of the page about fixed points of Lloyd's algorithm."""

INTRODUCTION = """In many dimensions, noise alone can keep Lloyd's algorithm from moving any row:
nearly every partition is then a fixed point, although the data has clear clusters. Lederman et al.
(2026) prove this, and that Hartigan's single moves do not have this problem. Boost k-means makes
single moves. This page explains the effect, predicts it by a formula, and measures it for this
package, scikit-learn and faiss.

## What is known

- **Lederman et al. (2026)** show that "in high-dimensional, high-noise settings [...] essentially
  every partition of the data is a fixed point" of Lloyd's algorithm, with high probability, and
  that Hartigan's algorithm "does not exhibit this pathology". Only the abstract, the beginning and
  the first figure of the paper could be read for this page. This figure uses normal clusters of 20
  rows whose means have the variance 1; so do the measurements below. Silva-Sánchez and Lederman
  (2025) have an earlier result about Lloyd's algorithm.
- **Slonim, Aharoni and Crammer (2013)** describe noisy problems for which "any random partition
  represents a local minimum for Lloyd's algorithm, while Hartigan's algorithm can easily converge
  to the correct solution" (quoted from the abstract).
- **Telgarsky and Vattani (2010)** study Hartigan's method, and why its partitions differ from
  Voronoi cells. **Hartigan (1975)** introduced it.
- **Clément and Steinerberger (2026)** report that a minor variation of Hartigan's method ends
  another 2 to 5 % lower, and that the difference grows with the dimension and with k. Only the
  abstract could be read here, which does not describe the variation. The
  [annealing](../mathematics.md#leaving-an-optimum) of this package modifies Hartigan's rule, too,
  and was found independently.
- **Zhao, Deng and Ngo (2018)** is the published version of the paper that this package implements.
  **Deng and Zhao (2018)** combine single moves with a graph of nearest neighbours (GK-means).
"""

# The derivation. It has no figures, so it is not formatted.
THEORY = r"""## Why noise stops Lloyd's algorithm

The formulas in this section are derived here; they are not quoted from the papers.

**The own centre is too near.** Let a row $x$ belong to cluster $u$ with $n_u$ rows, and let $C'$ be
the mean of the other rows of $u$. The row is part of its own centre, so $x - C_u = (1 - 1/n_u)(x -
C')$. Now let each row be a mean plus independent noise with variance $s^2$ in each of $d$
dimensions, and consider a partition that does not depend on the noise. Let $S_u$ and $S_v$ be the
squared distances without noise. Then

$$
E \lVert x - C_u \rVert^2 = S_u + s^2 d \left( 1 - \frac{1}{n_u} \right) , \qquad
E \lVert x - C_v \rVert^2 = S_v + s^2 d \left( 1 + \frac{1}{n_v} \right) .
$$

Lloyd's algorithm compares these distances. The own centre has an advantage of $s^2 d \, (1/n_u +
1/n_v)$, which has nothing to do with the clusters. The rule of single moves multiplies the first
distance by $n_u / (n_u - 1)$ and the second by $n_v / (n_v + 1)$. **Both noise terms become $s^2
d$, and the advantage is gone.**

**The objective shows the same.** Let $D_r$ be the sum of the $n_r$ rows of cluster $r$, and $M_r$
the same sum without noise. Then $E \lVert D_r \rVert^2 = \lVert M_r \rVert^2 + n_r s^2 d$, so that

$$
E \, I_1^* = E \sum_r \frac{\lVert D_r \rVert^2}{n_r}
= \sum_r \frac{\lVert M_r \rVert^2}{n_r} + k s^2 d .
$$

Noise adds the same amount to every partition into $k$ clusters. On average, single moves climb the
objective of the data without noise.

**How many dimensions are many?** Without signal and with clusters of $m$ rows, the difference of
the two squared distances has the mean $2 s^2 d / m$ and the standard deviation $s^2 \sqrt{8 d /
m}$. The mean is $\sqrt{d / (2 m)}$ deviations above 0. Lloyd's algorithm makes $n (k - 1)$
comparisons. The extremes of so many normal values are about $\sqrt{2 \ln (n k)}$ deviations from
the mean, so that no row moves if

$$
d \gtrsim 4 m \ln (n k) .
$$

If the variance of the noise is not the same in all directions, $d$ is the effective dimension
$\operatorname{tr}(V)^2 / \operatorname{tr}(V^2)$ of its covariance matrix $V$.

**How much noise is much?** Let the coordinates of the means have the variance $t^2$; the noise in
the tables is $s^2 / t^2$. Then $S_u - S_v \le 2 t^2 d \, (1 - 1/m)^2$, approximately for large $d$.
The advantage of the own centre is larger than this if

$$
\frac{s^2}{t^2} > \frac{(m - 1)^2}{m} .
$$

For a fixed number of rows, there are finitely many partitions. As $d$ grows, the probability that
*every* partition into clusters of $m$ rows is a fixed point therefore tends to 1. For 20 rows, the
bound is 18.05. For a random partition, much less noise is enough, because no cluster holds many
rows of one class. Still, the clusters are easy to recognise: the squared distances of two rows
differ by $2 t^2 d$ between and within classes, and vary only by about $s^2 \sqrt{8 d}$.

**Prediction.** In each dimension, $A = x - C_v$ and $B = x - C_u$ are normal. Their variances $a$,
$b$ and their covariance $c$ follow from the number of rows of each class in each cluster. The
difference of the squared distances has the mean $d (a - b)$ and the variance $2 d \, (a^2 + b^2 - 2
c^2)$. The prediction treats it as normal, the comparisons of one row as correlated by 1/2 (which
holds for clusters of equal size if noise dominates), and the rows as independent.
`paper/lloyd_bias.py` computes it from $n$, $k$, $d$ and the noise, without looking at any row.
"""

PICTURE = """## The picture

![Shares of moving rows and of fixed points; agreement with the planted clusters](../images/{picture})

Above: points are measured, and lines are predicted; the dotted lines are at $4 m \\ln(n k)$
dimensions. Below: means over the seeds; methods without single moves are dashed.
"""

PARTITIONS = """## Random partitions

{k} classes with normal noise; {n_partitions} random partitions into {k} clusters of equal size for
each of {n_seeds} seeds. Columns:

- "Lloyd moves" is the share of the rows that are nearer to another centre than to their own, and
  "single moves" the share of the rows for which a single move gains;
- "fixed points" is the share of the partitions in which Lloyd's algorithm moves no row;
- "corrected" is the share of rows that a rule moves if, in the planted partition, two rows of
  different clusters are exchanged.

{table}
The table has powers of ten only; the picture shows all numbers of dimensions.

- The predicted shares of rows that Lloyd's algorithm moves differ from the measured ones by
  {mean_error} points on average, and by {error} points at most.
- With noise {highest}, the rule $4 m \\ln(n k)$ gives {bounds} per cluster (dotted lines in the
  picture). From 10,000 dimensions on, {fixed} of the random partitions are fixed points of Lloyd's
  algorithm. For single moves, none is: they gain for at least {single} of the rows.
- Above the bound $(m - 1)^2 / m$ ({limits}), Lloyd's algorithm does not even correct two exchanged
  rows if there are enough dimensions. Single moves do.
"""

RECOVERY = """## Recovery of the clusters

{n} rows in {k} classes of {size}; means of {n_seeds} seeds. Each cell has the adjusted Rand index
with the planted clusters (1 is perfect), and the inertia relative to that of the planted partition.
All methods get the same rows. "random labels" start from the same random partition. "Lloyd" is
`baselines.KMeans`, and "single moves" is `BoostKMeans` without annealing and repair (the paper's
BKM(non) and BKM(kpp)); both run until no row moves. "scikit-learn", "faiss" and "boostkmeans" are
`KMeans`, `faiss.Kmeans` and `BoostKMeans` with their defaults. "after PCA" uses the first k - 1
components.

{tables}
Number of runs with at least 1,000 dimensions in which a method recovers the planted clusters
(adjusted Rand index of at least {limit}):

{counts}

Lloyd's algorithm returned the random labels unchanged in {stuck} of {of} of these runs. From rows
as centres, it does better: at the beginning, no row has contributed to a centre, so the first
assignment is not biased. With enough dimensions, a class with one seed is found. But a class
without a seed is divided among other clusters, a class with two seeds is split, and later
iterations rarely correct this.
faiss draws its seeds at random, which leaves out about a third of the classes. k-means++
(scikit-learn) chooses better seeds.

Plain single moves leave the random labels and come near to the planted clusters, but usually end
with a few classes merged and others split. Annealing and repair, which are part of the defaults,
correct this. Reducing the dimensions by PCA helps Lloyd's algorithm, too, if there are fewer
clusters than dimensions. With few dimensions and high noise, partitions that have nothing to do with
the planted one have a lower inertia, and no method finds the classes.
"""

SCALE = """## Many small clusters

This case occurs in practice: many clusters of few rows, for example near-duplicates. Clusters of
{size} rows; {seeds}. Cells as above.

{table}
If there are more clusters than dimensions, PCA to k - 1 components removes nothing. {summary}
"""

REAL = """## Real data

{n} rows; means of {n_seeds} seeds. Lloyd's algorithm starts from k-means++ and runs until no row
moves. Then single moves continue from its partition until no row moves. Columns:

- "effective d" is $\\operatorname{{tr}}(V)^2 / \\operatorname{{tr}}(V^2)$ of the covariance matrix
  of the rows;
- "Lloyd moves, random labels" is the share of rows that Lloyd's algorithm moves from a random
  partition;
- "Lloyd moves, converged" and "single moves, converged" are the shares of rows that each rule would
  move after Lloyd's algorithm has converged;
- "labels changed" and "inertia" compare the partition after single moves with that of Lloyd's
  algorithm; "inertia, boostkmeans" is that of an independent fit with default parameters.

{table}
Real data varies in few directions, so its effective dimension is far below d, and Lloyd's algorithm
leaves random partitions. The bias remains: when it has converged, single moves gain for {least_rows}
to {most_rows} of the rows, and lower the inertia by another {least} to {most} %.
"""

REFERENCES = """## References

- R. R. Lederman, D. Silva-Sánchez, Z. Chen, G. Mordant, A. Balanov, T. Bendory. *The Catastrophic
  Failure of The k-Means Algorithm in High Dimensions, and How Hartigan's Algorithm Avoids It.*
  arXiv:2602.09936, 2026.
- D. Silva-Sánchez, R. R. Lederman. *An Observation on Lloyd's k-Means Algorithm in High
  Dimensions.* arXiv:2506.14952, 2025.
- F. Clément, S. Steinerberger. *An effective variant of the Hartigan k-means algorithm.*
  arXiv:2604.21798, 2026.
- N. Slonim, E. Aharoni, K. Crammer. *Hartigan's K-Means Versus Lloyd's K-Means: Is It Time for a
  Change?* IJCAI 2013.
- M. Telgarsky, A. Vattani. *Hartigan's Method: k-means Clustering without Voronoi.* AISTATS 2010.
- J. A. Hartigan. *Clustering Algorithms.* John Wiley & Sons, 1975.
- W.-L. Zhao, C.-H. Deng, C.-W. Ngo. *k-means: A revisit.* Neurocomputing 291, 2018, 195-206.
  (arXiv:1610.02483, *Boost K-Means*.)
- C.-H. Deng, W.-L. Zhao. *Fast k-means based on KNN Graph.* ICDE 2018. (arXiv:1705.01813.)
"""
