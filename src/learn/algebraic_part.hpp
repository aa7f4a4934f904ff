#pragma once

#include <optional>
#include <span>
#include <vector>

#include "entrain/coupled_system.hpp"
#include "numerics/dense_lu.hpp"

namespace entrain::learning {

/// The outputs that follow connected inputs at once, and how: y = g(x, u) with D = dg/du. Where an input ended a step
/// elsewhere than the output behind it, the outputs with feedthrough are not those of the coupled system; to first
/// order they are
///     y^ = y + D (T y^ + o - u),    with u = T y + o the connections.
/// One Newton step for the algebraic part, loops included; nothing where all inputs are what they should be.
class AlgebraicPart {
 public:
  /// `followers`: outputs with feedthrough.
  AlgebraicPart(const Graph& graph, std::vector<OutputId> followers);

  bool any() const { return !followers_.empty(); }
  const std::vector<OutputId>& followers() const { return followers_; }
  bool follows(OutputId output) const { return place_[output] != kNone; }

  /// Reads D: where a subsystem is, from its linearization; else as `look_at_start` found it.
  void read(CoupledSystem& system);
  /// Of subsystems without linearization, by moving inputs. Before the first step.
  void look_at_start(CoupledSystem& system);
  /// D as read last, and again: a row per follower, a column per input of all.
  const std::vector<double>& numbers() const { return numbers_; }
  void use(std::span<const double> numbers);
  /// Until `use`: this one answers no input.
  void hold(OutputId output);

  /// Of all outputs `y`, with all inputs `u` as they ended there: the followers among them corrected in place.
  void correct(std::span<const double> u, std::span<double> y);
  /// Of one macro step after the other without corrections: the spectral radius of D T among the followers.
  double radius() const;

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Entry {
    std::size_t follower;
    InputId input;
    Connection source;
  };
  Matrix loop() const;

  Graph graph_;  // a repeated run may make its system anew
  std::vector<OutputId> followers_;
  std::vector<std::size_t> place_;  // by output: in followers_
  std::vector<Entry> entries_;      // connected inputs that a follower may follow
  std::vector<double> numbers_;     // of the entries
  std::vector<double> factored_;    // those that lu_ was made of
  std::optional<numerics::DenseLu> lu_;
  std::vector<SubsystemId> linear_;  // owners that can be linearized
  std::vector<Linearization> matrices_;
  std::vector<double> right_;
};

}  // namespace entrain::learning
