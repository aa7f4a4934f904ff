#pragma once

#include <optional>
#include <span>
#include <vector>

#include "coupling/transfer.hpp"
#include "methods/hermite/hermite_step.hpp"
#include "numerics/sparse_lu.hpp"
#include "trials/trials.hpp"

namespace entrain::method {

/// MISSILES (docs/theory/missiles.md): the coupling of one step as one sparse linear system. Estimates are affine in
/// the values and slopes z = (Y, Y') at the end of the step, g(z) = g(z0) + J (z - z0), so that from any z0 one
/// solution of (I - J) dz = g(z0) - z0 leads to z = g(z).
///
/// Unknowns are scaled to (Y / size, h Y' / size). A block is what the value and the slope of one output do to those of
/// another; the pattern of blocks follows from the graph. Blocks are computed anew only where gains changed, pivots
/// only when they no longer suit.
class CouplingEquations {
 public:
  CouplingEquations(const CoupledSystem& system, std::span<const OutputId> unknowns);

  struct Step {
    Time from = 0.0;
    Duration size = 0.0;  ///< as in the latest Trials::run
    bool slopes_known = false;
  };
  /// The matrix for estimates over this step. `magnitudes`: of the unknowns.
  void update(trials::Trials& trials, const Step& step, std::span<const double> magnitudes);
  /// In: g(z0) - z0, first all values, then all slopes. Out: dz.
  void solve(std::span<double> values, std::span<double> slopes);

  std::uint64_t factorizations() const { return memory_.factorizations; }  ///< with new pivots or kept ones

  /// What decides about rounding.
  struct Memory {
    std::vector<double> scale;         ///< per unknown
    std::vector<double> pivot_values;  ///< of the matrix whose pivots are in use
    std::uint64_t factorizations = 0;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(scale, pivot_values, factorizations);
    }
  };
  const Memory& memory() const { return memory_; }
  void restore(const Memory& memory);

 private:
  /// One input of the subsystem whose output is the row, fed by the output that is the column.
  struct Term {
    std::size_t output, input;  // numbers inside the subsystem
    InputId wire;
    double factor;
  };
  struct Block {
    std::size_t row = 0, column = 0;  // unknowns
    std::size_t place = 0;            // of its first entry among the values
    std::size_t to_next_column = 0;   // from its entries for values to those for slopes
    std::size_t first_term = 0, terms = 0;
  };

  void find_blocks();
  void place_blocks();
  void compute_blocks(trials::Trials& trials, SubsystemId s);
  template <class Estimate>  // trials::Estimator or trials::StandIn
  void compute_block(const Estimate& estimator, const Block& block, double* entries) const;
  void place_entries(const Block& block, const double* entries);
  void factor_anew();
  [[noreturn]] void throw_singular(std::size_t unknown, const Step& step) const;

  const Graph& graph_;
  const coupling::TransferPlan& transfer_;
  std::uint64_t transfer_revision_ = 0;  // of the factors in the terms
  std::vector<OutputId> unknowns_;
  std::vector<Block> blocks_;  // by subsystem of the row
  std::vector<Term> terms_;
  std::vector<std::size_t> first_block_;  // per subsystem, into blocks_
  std::optional<numerics::SparseLu> lu_;  // none without connections
  std::vector<double> entries_;           // four of each block: what goes from where a subsystem lives to all
  std::vector<double> values_, right_side_;
  std::vector<std::uint64_t> revision_;  // per subsystem: of the gains in its blocks
  Step step_;                            // of the blocks
  Memory memory_;
};

/// Estimates for all subsystems, from what each of them provides.
std::vector<coupling::TrialKind> estimated_kinds(const CoupledSystem& system);

/// The coupling of a step in which all subsystems are estimated by `trials`: one linear system.
class EstimatedCoupling {
 public:
  EstimatedCoupling(const CoupledSystem& system, trials::Trials& trials, std::span<const OutputId> unknowns);

  /// `right` as it is then. Leaves the estimates at the first guess in `block`, and the tasks set. Throws
  /// Error{SolverFailed} where there is no solution in numbers.
  void solve(CoupledSystem& system, HermiteStep& step);

  CouplingEquations& equations() { return equations_; }
  const CouplingEquations& equations() const { return equations_; }
  // What the latest solution added to the first guess, by unknown.
  std::span<const double> added_values() const { return values_; }
  std::span<const double> added_slopes() const { return slopes_; }

 private:
  trials::Trials& trials_;
  CouplingEquations equations_;
  std::vector<double> magnitudes_, values_, slopes_;  // of the unknowns
};

}  // namespace entrain::method
