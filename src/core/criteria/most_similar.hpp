// The composite with the largest product, for each row.
#pragma once

#include "criteria/term_composites.hpp"
#include "parallel/thread_pool.hpp"

namespace boostkmeans {

// Sets the label of each row to the composite with the largest product x . D_r. Only labels and by_term
// are used. Ties go to the smaller index. Products are added in the order of the columns, so that dense
// rows and sparse rows of the same data have equal labels, bit for bit.
template <class Rows>
void most_similar(const Rows& rows, const TermComposites& composites, ThreadPool& pool);

}  // namespace boostkmeans
