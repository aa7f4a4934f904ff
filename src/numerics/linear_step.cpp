#include "numerics/linear_step.hpp"

#include <algorithm>
#include <utility>

#include "numerics/exponential.hpp"

namespace entrain::numerics {
namespace {

double product(const double* row, const double* vector, std::size_t size) {
  double sum = 0.0;
  for (std::size_t j = 0; j < size; ++j) sum += row[j] * vector[j];
  return sum;
}

}  // namespace

LinearStep::LinearStep(Matrix a, Matrix b) : a_(std::move(a)), b_(std::move(b)), next_(a_.rows) {}

void LinearStep::advance(Duration size, const InputBlock& inputs, std::span<double> x) {
  const double* row = matrices_for(size).rows.data();
  const std::size_t states = next_.size();
  // The coefficients of all orders lie in one piece, like those of the row: one product for all of them.
  const double* coefficients = inputs.order(0).data();
  const std::size_t count = inputs.count() * static_cast<std::size_t>(inputs.degree() + 1);
  for (double& next : next_) {
    next = product(row, x.data(), states) + product(row + states, coefficients, count);
    row += row_size();
  }
  for (std::size_t i = 0; i < states; ++i) x[i] = next_[i];
}

const LinearStep::Kept& LinearStep::matrices_for(Duration size) {
  if (kept_[recent_].size == size) return kept_[recent_];
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.size == size; });
  if (found == kept_.end()) return compute(size);
  recent_ = static_cast<std::size_t>(found - kept_.begin());
  return *found;
}

// Always for the highest degree: the same exponential, hence the same bits, whatever the degree of the inputs.
const LinearStep::Kept& LinearStep::compute(Duration size) {
  const PhiBlocks blocks = exact_step_matrices(a_, b_, size, kMaxInputDegree);
  recent_ = oldest_;
  oldest_ = (oldest_ + 1) % kept_.size();
  Kept& kept = kept_[recent_];
  kept.size = size;
  kept.rows.clear();
  for (std::size_t i = 0; i < a_.rows; ++i) {
    for (std::size_t j = 0; j < a_.cols; ++j) kept.rows.push_back(blocks.exponential(i, j));
    for (const auto& gamma : blocks.gamma) {
      for (std::size_t j = 0; j < b_.cols; ++j) kept.rows.push_back(gamma(i, j));
    }
  }
  return kept;
}

}  // namespace entrain::numerics
