#include "numerics/sparse_lu.hpp"

#include <klu.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::numerics {
namespace {

// Largest entry of a column of U beside that of A: beyond, the kept pivots lose six digits.
constexpr double kLeastReciprocalGrowth = 1e-6;
// A pivot beside the entry that it was before elimination: below, nothing but rounding is left of it. Unlike a
// condition number (klu_rcond, klu_condest) this does not depend on the units of rows and columns.
constexpr double kLeastLeftOfPivot = 1e-14;

}  // namespace

struct SparseLu::Klu {
  std::vector<int> first, rows;
  std::vector<double> values;  // KLU takes them as mutable, and does not change them
  klu_common common{};
  klu_symbolic* symbolic = nullptr;
  klu_numeric* numeric = nullptr;
  struct Pivot {
    int k;
    std::ptrdiff_t entry;  // among the values
  };
  std::vector<Pivot> pivots;  // those that are entries of the matrix

  Klu(std::vector<int> columns, std::vector<int> row_indices)
      : first(std::move(columns)), rows(std::move(row_indices)), values(rows.size(), 0.0) {
    klu_defaults(&common);
    common.halt_if_singular = 1;
    symbolic = klu_analyze(order(), first.data(), rows.data(), &common);
    if (symbolic == nullptr) {
      const bool no_memory = common.status == KLU_OUT_OF_MEMORY;
      throw Error(ErrorCode::SolverFailed, {no_memory ? FactCode::EquationsOutOfMemory : FactCode::EquationsSingular});
    }
  }
  ~Klu() {
    klu_free_numeric(&numeric, &common);
    klu_free_symbolic(&symbolic, &common);
  }
  Klu(const Klu&) = delete;
  Klu& operator=(const Klu&) = delete;

  int order() const { return static_cast<int>(first.size()) - 1; }

  void find_pivots() {
    pivots.clear();
    for (int k = 0; k < order(); ++k) {
      const auto column = static_cast<std::size_t>(symbolic->Q[k]);
      const auto begin = rows.begin() + first[column];
      const auto end = rows.begin() + first[column + 1];
      const auto found = std::lower_bound(begin, end, numeric->Pnum[k]);
      if (found != end && *found == numeric->Pnum[k]) pivots.push_back({k, found - rows.begin()});
    }
  }
  /// The place of the first pivot of which elimination left nothing; -1 if there is none. Not a number is nothing.
  int first_lost_pivot() const {
    const auto* const left = static_cast<const double*>(numeric->Udiag);
    for (const auto& [k, entry] : pivots) {
      const double was = std::abs(values[static_cast<std::size_t>(entry)]) / numeric->Rs[k];
      if (!(std::abs(left[k]) >= kLeastLeftOfPivot * was)) return k;
    }
    return -1;
  }
};

SparseLu::SparseLu(std::vector<int> first, std::vector<int> rows)
    : klu_(std::make_unique<Klu>(std::move(first), std::move(rows))) {}
SparseLu::~SparseLu() = default;
SparseLu::SparseLu(SparseLu&&) noexcept = default;
SparseLu& SparseLu::operator=(SparseLu&&) noexcept = default;

bool SparseLu::factor(std::span<const double> values) {
  auto& klu = *klu_;
  klu.values.assign(values.begin(), values.end());
  klu_free_numeric(&klu.numeric, &klu.common);
  klu.numeric = klu_factor(klu.first.data(), klu.rows.data(), klu.values.data(), klu.symbolic, &klu.common);
  if (klu.numeric == nullptr || klu.common.status != KLU_OK) return false;
  if (klu_refactor(klu.first.data(), klu.rows.data(), klu.values.data(), klu.symbolic, klu.numeric, &klu.common) == 0) {
    return false;
  }
  klu.find_pivots();
  const int lost = klu.first_lost_pivot();
  if (lost < 0) return true;
  klu.common.singular_col = klu.symbolic->Q[lost];
  klu_free_numeric(&klu.numeric, &klu.common);
  return false;
}

bool SparseLu::refactor(std::span<const double> values) {
  auto& klu = *klu_;
  if (klu.numeric == nullptr) return false;
  klu.values.assign(values.begin(), values.end());
  int* const first = klu.first.data();
  int* const rows = klu.rows.data();
  double* const entries = klu.values.data();
  return klu_refactor(first, rows, entries, klu.symbolic, klu.numeric, &klu.common) != 0 &&
         klu.common.status == KLU_OK &&
         klu_rgrowth(first, rows, entries, klu.symbolic, klu.numeric, &klu.common) != 0 &&
         klu.common.rgrowth > kLeastReciprocalGrowth && klu.first_lost_pivot() < 0;
}

void SparseLu::solve(std::span<double> right_side) {
  auto& klu = *klu_;
  if (klu.numeric == nullptr ||
      klu_solve(klu.symbolic, klu.numeric, klu.order(), 1, right_side.data(), &klu.common) == 0) {
    throw Error(ErrorCode::SolverFailed, {FactCode::EquationsSingular});
  }
}

std::size_t SparseLu::size() const {
  return static_cast<std::size_t>(klu_->order());
}

std::size_t SparseLu::singular_column() const {
  return static_cast<std::size_t>(klu_->common.singular_col);
}

}  // namespace entrain::numerics
