#include "methods/hermite/coupling_equations.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "coupling/engine.hpp"
#include "coupling/transfer.hpp"
#include "entrain/fact_codes.hpp"
#include "numerics/cubic_hermite.hpp"

namespace entrain::method {
namespace {

// Magnitudes may grow this much before the scales follow: they need not be exact, and every change costs pivots.
constexpr double kOutgrown = 256.0;

[[noreturn]] void throw_overflow(const CoupledSystem& system, const HermiteStep& step, OutputId y) {
  throw Error(
      ErrorCode::SolverFailed,
      {FactCode::EstimateOverflows, {system.graph().name(y)}, {{"step", step.window().size, "s"}}},
      {.subsystem = {}, .variable = {}, .time = step.now(), .remedy = "Choose a smaller step, or adaptive = true"});
}

}  // namespace

CouplingEquations::CouplingEquations(const CoupledSystem& system, std::span<const OutputId> unknowns)
    : graph_(system.graph()),
      transfer_(system.engine().transfer()),
      transfer_revision_(transfer_.revision()),
      unknowns_(unknowns.begin(), unknowns.end()),
      revision_(system.size(), 0) {
  if (unknowns_.empty()) return;
  find_blocks();
  place_blocks();
  values_.assign(4 * blocks_.size(), 0.0);
  entries_.assign(4 * blocks_.size(), 0.0);
  right_side_.assign(2 * unknowns_.size(), 0.0);
  memory_.scale.assign(unknowns_.size(), 0.0);
}

/// Per subsystem: every connected output of it against every output that feeds it, and itself for the identity.
void CouplingEquations::find_blocks() {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> unknown_of(graph_.outputs(), kNone);
  for (std::size_t k = 0; k < unknowns_.size(); ++k) unknown_of[unknowns_[k]] = k;
  for (std::size_t s = 0; s < graph_.subsystems(); ++s) {
    first_block_.push_back(blocks_.size());
    const auto inputs = graph_.inputs_of(SubsystemId{s});
    const auto outputs = graph_.outputs_of(SubsystemId{s});
    struct Feed {
      std::size_t column, input;
    };
    std::vector<Feed> feeds;
    for (std::size_t j = 0; j < inputs.count; ++j) {
      const std::size_t source = transfer_.source(InputId{inputs.first + j});
      if (source < graph_.outputs()) feeds.push_back({unknown_of[source], j});
    }
    std::stable_sort(feeds.begin(), feeds.end(), [](const Feed& a, const Feed& b) { return a.column < b.column; });
    for (std::size_t i = 0; i < outputs.count; ++i) {
      const std::size_t row = unknown_of[outputs.first + i];
      if (row == kNone) continue;
      const std::size_t first_of_row = blocks_.size();
      bool has_diagonal = false;
      for (const Feed& feed : feeds) {
        if (blocks_.size() == first_of_row || blocks_.back().column != feed.column) {
          blocks_.push_back({row, feed.column, 0, 0, terms_.size(), 0});
          has_diagonal = has_diagonal || feed.column == row;
        }
        const InputId wire{inputs.first + feed.input};
        terms_.push_back({i, feed.input, wire, transfer_.factor(wire)});
        ++blocks_.back().terms;
      }
      if (!has_diagonal) blocks_.push_back({row, row, 0, 0, terms_.size(), 0});
    }
  }
  first_block_.push_back(blocks_.size());
}

/// Two columns of the matrix per unknown, rows ascending: value and slope of each block one after the other.
void CouplingEquations::place_blocks() {
  std::vector<std::size_t> order(blocks_.size());
  for (std::size_t b = 0; b < order.size(); ++b) order[b] = b;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(blocks_[a].column, blocks_[a].row) < std::pair(blocks_[b].column, blocks_[b].row);
  });
  std::vector<int> first{0};
  std::vector<int> rows;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && blocks_[order[end]].column == blocks_[order[begin]].column) ++end;
    for (int of_slopes = 0; of_slopes < 2; ++of_slopes) {
      for (std::size_t k = begin; k < end; ++k) {
        Block& block = blocks_[order[k]];
        if (of_slopes == 0) {
          block.place = rows.size();
          block.to_next_column = 2 * (end - begin);
        }
        rows.push_back(static_cast<int>(2 * block.row));
        rows.push_back(static_cast<int>(2 * block.row + 1));
      }
      first.push_back(static_cast<int>(rows.size()));
    }
    begin = end;
  }
  lu_.emplace(std::move(first), std::move(rows));
}

void CouplingEquations::update(trials::Trials& trials, const Step& step, std::span<const double> magnitudes) {
  if (!lu_) return;
  bool rescaled = false;
  for (std::size_t k = 0; k < memory_.scale.size(); ++k)
    rescaled = rescaled || magnitudes[k] > kOutgrown * memory_.scale[k];
  if (rescaled) std::copy(magnitudes.begin(), magnitudes.end(), memory_.scale.begin());
  const bool rewired = transfer_revision_ != transfer_.revision();
  if (rewired) {
    for (Term& term : terms_) term.factor = transfer_.factor(term.wire);
    transfer_revision_ = transfer_.revision();
  }
  const bool all = rewired || rescaled || step.size != step_.size || step.slopes_known != step_.slopes_known;
  step_ = step;
  const auto revisions = trials.gains_revisions();
  if (!all && std::equal(revisions.begin(), revisions.end(), revision_.begin())) return;
  trials.for_all([&](SubsystemId s) {
    if (!all && revisions[s] == revision_[s]) return;
    revision_[s] = revisions[s];
    const std::size_t first = first_block_[s];
    const std::size_t end = first_block_[s + 1];
    trials.at_home(
        s, [&] { compute_blocks(trials, s); }, std::span(entries_).subspan(4 * first, 4 * (end - first)));
    for (std::size_t b = first; b < end; ++b) place_entries(blocks_[b], &entries_[4 * b]);
  });
  ++memory_.factorizations;
  if (!lu_->refactor(values_)) factor_anew();
}

void CouplingEquations::compute_blocks(trials::Trials& trials, SubsystemId s) {
  const trials::StandIn* stand_in = trials.stand_in(s);
  for (std::size_t b = first_block_[s]; b < first_block_[s + 1]; ++b) {
    if (stand_in != nullptr) {
      compute_block(*stand_in, blocks_[b], &entries_[4 * b]);
    } else {
      compute_block(*trials.estimator(s), blocks_[b], &entries_[4 * b]);
    }
  }
}

template <class Estimate>
void CouplingEquations::compute_block(const Estimate& estimator, const Block& block, double* entries) const {
  // How the coefficients of an input depend on the value at the end of the step, and on h times the slope there.
  const double h = step_.size;
  const auto of_value = step_.slopes_known ? numerics::CubicHermite::by_right_value(h)
                                           : numerics::CubicHermite::parabola_by_right_value(h);
  const auto of_slope = step_.slopes_known ? numerics::CubicHermite::by_right_slope(h)
                                           : numerics::CubicHermite::parabola_by_right_slope(h);
  double value_by_value = 0.0;
  double value_by_slope = 0.0;
  double slope_by_value = 0.0;
  double slope_by_slope = 0.0;
  for (std::size_t t = block.first_term; t < block.first_term + block.terms; ++t) {
    const Term& term = terms_[t];
    for (int p = 1; p <= kMaxInputDegree; ++p) {
      const auto order = static_cast<std::size_t>(p);
      const double value = term.factor * estimator.value_gain(term.output, p, term.input);
      const double slope = term.factor * estimator.slope_gain(term.output, p, term.input) * step_.size;
      value_by_value += value * of_value[order];
      value_by_slope += value * of_slope[order];
      slope_by_value += slope * of_value[order];
      slope_by_slope += slope * of_slope[order];
    }
  }
  const double identity = block.row == block.column ? 1.0 : 0.0;
  const double ratio = memory_.scale[block.column] / memory_.scale[block.row];
  entries[0] = identity - ratio * value_by_value;
  entries[1] = -ratio * slope_by_value;
  entries[2] = -ratio * value_by_slope;
  entries[3] = identity - ratio * slope_by_slope;
}

void CouplingEquations::place_entries(const Block& block, const double* entries) {
  double* const to = values_.data() + block.place;
  to[0] = entries[0];
  to[1] = entries[1];
  to[block.to_next_column] = entries[2];
  to[block.to_next_column + 1] = entries[3];
}

void CouplingEquations::factor_anew() {
  if (!lu_->factor(values_)) {
    const Step failed = step_;
    step_ = {};  // whatever comes next is factored again
    throw_singular(lu_->singular_column() / 2, failed);
  }
  memory_.pivot_values = values_;
}

void CouplingEquations::solve(std::span<double> values, std::span<double> slopes) {
  if (!lu_) return;
  for (std::size_t k = 0; k < memory_.scale.size(); ++k) {
    right_side_[2 * k] = values[k] / memory_.scale[k];
    right_side_[2 * k + 1] = slopes[k] * step_.size / memory_.scale[k];
  }
  lu_->solve(right_side_);
  for (std::size_t k = 0; k < memory_.scale.size(); ++k) {
    values[k] = right_side_[2 * k] * memory_.scale[k];
    slopes[k] = right_side_[2 * k + 1] * memory_.scale[k] / step_.size;
  }
}

void CouplingEquations::throw_singular(std::size_t unknown, const Step& step) const {
  const OutputId output = unknowns_[unknown];
  const auto& loops = graph_.loops();
  const bool in_loop = std::any_of(loops.begin(), loops.end(), [&](const AlgebraicLoop& loop) {
    return std::find(loop.outputs.begin(), loop.outputs.end(), output) != loop.outputs.end();
  });
  throw Error(
      ErrorCode::SolverFailed, {FactCode::OutputUndetermined, {graph_.name(output)}, {{"step", step.size, "s"}}},
      {.subsystem = graph_.name(graph_.owner(output)),
       .variable = {},
       .time = step.from,
       .remedy = in_loop ? "The algebraic loop through it has no unique solution: check the connections"
                         : "The estimates of the subsystems contradict each other over a step of this size: choose a "
                           "smaller one"});
}

void CouplingEquations::restore(const Memory& memory) {
  memory_ = memory;
  step_ = {};  // all blocks anew
  if (!lu_ || memory_.pivot_values.empty()) return;
  values_ = memory_.pivot_values;
  factor_anew();
}

std::vector<coupling::TrialKind> estimated_kinds(const CoupledSystem& system) {
  std::vector<coupling::TrialKind> kinds;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto& can = system.capabilities(SubsystemId{s});
    const bool linearized =
        can.states && can.linearization && !system.engine().estimator(SubsystemId{s}).replaces_linearization();
    kinds.push_back(linearized ? coupling::TrialKind::Costarica : coupling::TrialKind::Continued);
  }
  return kinds;
}

EstimatedCoupling::EstimatedCoupling(const CoupledSystem& system, trials::Trials& trials,
                                     std::span<const OutputId> unknowns)
    : trials_(trials),
      equations_(system, unknowns),
      magnitudes_(unknowns.size()),
      values_(unknowns.size()),
      slopes_(unknowns.size()) {}

/// z = z0 + (I - J)^-1 (g(z0) - z0) with the first guess z0 that continues the step before.
void EstimatedCoupling::solve(CoupledSystem& system, HermiteStep& step) {
  step.predict(Predictor::Hermite);
  step.set_tasks();
  step.write_inputs(system);
  step.run(trials_);
  const auto unknowns = step.unknowns();
  auto& [right_values, right_slopes] = step.right();
  for (std::size_t k = 0; k < unknowns.size(); ++k) {
    const OutputId y = unknowns[k];
    magnitudes_[k] = step.magnitude(y);
    values_[k] = step.block().signals[y] - right_values[y];
    slopes_[k] = step.block().slopes[y] - right_slopes[y];
    if (!std::isfinite(values_[k] + slopes_[k])) throw_overflow(system, step, y);
  }
  equations_.update(trials_, {step.now(), step.window().size, step.slopes_known()}, magnitudes_);
  equations_.solve(values_, slopes_);
  for (std::size_t k = 0; k < unknowns.size(); ++k) {
    const OutputId y = unknowns[k];
    right_values[y] += values_[k];
    right_slopes[y] += slopes_[k];
    if (!std::isfinite(right_values[y] + right_slopes[y])) throw_overflow(system, step, y);
  }
}

}  // namespace entrain::method
