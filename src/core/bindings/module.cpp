// The Python module _core.
#include "bindings/module.hpp"

NB_MODULE(_core, m) {
  using namespace boostkmeans;
  nanobind::set_leak_warnings(false);  // daemon threads may still run when the interpreter shuts down
  m.doc() =
      "Compiled core of boostkmeans. Private. Functions check dtypes and shapes of their arguments "
      "but trust the values: labels, row numbers, orders, lists and codes must lie in their ranges. "
      "CsrMatrix checks the indices of a sparse matrix once.";
  bind_rows(m);
  bind_sweep(m);
  bind_assign(m);
  bind_criteria(m);
  bind_tree(m);
  bind_search(m);
  bind_pairs(m);
  bind_fit(m);
}
