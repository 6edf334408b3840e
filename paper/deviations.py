"""Errors and omissions of the paper, differences of this library, and references, for `claims.py`."""

ERRORS = [
    (
        "The formula for the objective after a move lacks the two terms of the old state. It is a "
        "value, not a gain, so its sign does not show whether the move improves the objective.",
        "The gain includes the two terms that are subtracted.",
    ),
    (
        "The formula divides by zero for a row that is alone in its cluster (n_u = 1).",
        "Such a row stays. This is exact, because moving it gains nothing.",
    ),
    (
        "The second objective, I2, divides by zero for a cluster of one row (n_r = 1). It equals 2 I1 "
        "only if all clusters are large.",
        "A single row has no pairs and counts as 0. The claim about both objectives shows the "
        "difference for small clusters.",
    ),
    (
        'Appendix A proves that single moves reach the optimum. The proof is circular: its step "given '
        'the fact that" assumes an inequality that says the move raises the objective (it is the move '
        "condition of Appendix B), and concludes that the move raises the objective. This shows that an "
        "optimal partition admits no improving move, which is the definition of a local optimum. It "
        "does not show the converse.",
        "The documentation promises a local optimum: no single move improves it. Different starts end "
        "at different ones, which the claim about the optimum counts.",
    ),
    (
        "Appendix B rewrites the move condition and drops the factors n / (n + 1) for large clusters. "
        "Its title promises convergence, which it does not prove.",
        "Convergence follows without any approximation: each move raises the objective, and there are "
        "finitely many partitions.",
    ),
    (
        "Algorithm 2 pops S_i from the queue and splits it into S_i and S_(i+1), but i counts the "
        "splits, so S_i is the newest cluster, not the one with the highest priority.",
        "The queue pops the cluster with the highest priority, by default the largest. One part keeps "
        "its place, and the other is the new cluster i + 1.",
    ),
    (
        "The number of comparisons, n (s - 1) log_s(k), assumes that all splits are even, that k is a "
        "power of s, and that a split needs the same number of passes for each s.",
        "`n_sections` is a parameter, and the claim about two sections counts the comparisons.",
    ),
    (
        "The entropy has no minus sign.",
        "`metrics.entropy` has a minus sign, with 0 log 0 = 0. It ranges from 0 (pure) to 1.",
    ),
    (
        'Table 1 calls bisecting k-means with k-means++ "BsBKM++".',
        "It is called BsKM++, as in the other tables.",
    ),
    ('Table 2 prints "4,3323.9".', "It is read as 43,323.9."),
    (
        "Table 3 shows the best of ten runs by entropy, which is also the evaluation measure.",
        "The page shows this, the run with the best objective, and the mean of all runs.",
    ),
    (
        "The learning rate of LVQ starts at 0.01 and falls by 0.0004 per iteration. It is negative "
        "after 25 iterations.",
        "LVQ ends when the rate is 0.",
    ),
    (
        '"+Fast" moves a row to the first better cluster. The order of the clusters is not given.',
        "The search starts at a random cluster for each row. If it always started at the first cluster, "
        "the first clusters would grow too large.",
    ),
    (
        "The convergence criterion is not given.",
        "A fit ends when a sweep moves nothing (certified), or gains less than a tolerance. "
        "`stop_reason_` names the criterion that applied.",
    ),
    ("The speed-up of top-k0 is given without k0 and k.", "It is measured for many k0."),
    (
        "Refinement ends 7 % above k-means. It is not said how it was done.",
        "Refinement runs until hardly anything moves. [Refinement of pairs](paper/pair_refinement.md) "
        "tests whether a weaker refinement explains the paper's figure.",
    ),
    (
        'Mini-Batch "covers 10 % of the input data". The paper does not say if this is per iteration or '
        "in total.",
        'Both readings are measured: "Mini-Batch" draws a tenth of the rows for each batch, and '
        '"Mini-Batch, 10 % in total" draws a tenth of the rows for all batches together.',
    ),
    (
        "The introduction says that starts without an initial assignment end lower. Sections 4 and 5 "
        "say that the assignment improves the result slightly.",
        "The claim about the initial assignment is the second one.",
    ),
    (
        "BKM(rnd)+Fast takes more time than BKM(non) because of its initial assignment, and is also "
        "called the fastest direct method.",
        "Both are measured.",
    ),
    (
        "k-means++ is attributed to Ostrovsky et al.",
        "It was published by Arthur and Vassilvitskii (2007).",
    ),
    (
        "Single moves are presented as new, apart from their use for documents.",
        "They are Hartigan's method (1975). The contributions of the paper are the start without "
        "centres, the tree, and the experiments at scale.",
    ),
]
"""Errors and omissions of the paper, and the decision of this library."""

DIFFERENCES = [
    (
        "Each row gets a random label at the start of BKM(non), and of each split of BsBKM(non), so the "
        "sizes of the clusters vary by chance.",
        "The random clusters have equal sizes. Then no cluster is empty, even for large k.",
    ),
    (
        "Each row is compared with the current clusters, one row at a time.",
        "The rows of a block, a hundredth of all rows, propose their moves together by a matrix "
        "product. Each move is then decided alone against the current clusters, so the objective "
        "never falls. [The mathematics](mathematics.md) has the details.",
    ),
    (
        "Rows are visited in random order.",
        "Large data is visited in runs of neighbouring rows, about one page of memory each. The runs "
        "are in random order, and a block has tens of them.",
    ),
    (
        "A split of Algorithm 2 uses all rows in random order until none moves.",
        'This is `BisectingBoostKMeans(sample=None, max_passes=None)`, called "BsBKM(non)" here. The '
        'default draws a sample of large sets and limits the passes. It is called "sampled tree".',
    ),
    (
        "RBK is the implementation in CLUTO.",
        "RBK is BsBKM(rnd) of rows with unit length. The paper says that both are the same for such "
        "rows; here this is true by construction.",
    ),
]
"""Deliberate differences between the paper's text and this library."""

REFERENCES = """## References

- J. A. Hartigan. *Clustering Algorithms.* John Wiley & Sons, 1975. It moves one row at a time to the
  cluster that lowers the inertia most.
- Y. Zhao, G. Karypis. *Empirical and Theoretical Comparisons of Selected Criterion Functions for
  Document Clustering.* Machine Learning 55, 2004. It uses the same objective for rows of unit length.
- Y. Zhao, G. Karypis, U. Fayyad. *Hierarchical Clustering Algorithms for Document Datasets.* Data Mining
  and Knowledge Discovery 10, 2005. It describes repeated bisection, and both priorities.
- D. Arthur, S. Vassilvitskii. *k-means++: the advantages of careful seeding.* SODA 2007.
- W.-L. Zhao, C.-H. Deng, C.-W. Ngo. *Boost K-Means.* arXiv:1610.02483, 2016. Published as *k-means: A
  revisit.* Neurocomputing 291, 2018.
- C.-H. Deng, W.-L. Zhao. *Fast k-means based on KNN Graph.* ICDE 2018 (GK-means). It compares a row only
  with the clusters of its nearest neighbours.
- F. Clément, S. Steinerberger. *An effective variant of the Hartigan k-means algorithm.*
  arXiv:2604.21798, 2026. It reports that a minor variation of Hartigan's method ends lower. Only the
  abstract could be read here, which does not describe the variation. The `annealing` of this library
  modifies Hartigan's rule, too, and was found independently.

[The mathematics](mathematics.md) has further references.
"""
