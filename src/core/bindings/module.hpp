// Registration of the parts of the module.
#pragma once

#include <nanobind/nanobind.h>

namespace boostkmeans {

void bind_rows(nanobind::module_& m);
void bind_sweep(nanobind::module_& m);
void bind_assign(nanobind::module_& m);
void bind_criteria(nanobind::module_& m);
void bind_tree(nanobind::module_& m);
void bind_search(nanobind::module_& m);
void bind_pairs(nanobind::module_& m);
void bind_fit(nanobind::module_& m);

}  // namespace boostkmeans
