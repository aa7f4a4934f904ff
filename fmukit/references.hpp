#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "entrain/model.hpp"
#include "fmukit/fmu_options.hpp"

namespace entrain::fmukit {

/// Of a parameter of the model: whether the FMU lets it change during a run. Texts choose between equations.
inline bool is_tunable(const Variable& parameter, const FmuOptions& options) {
  return options.tunable_parameters && parameter.tunable && parameter.type == ValueType::Real;
}

using Reference = std::uint32_t;

/// What a value reference can stand for. A state that is an output is the output; it has no reference of its own.
/// As wide as an index: a Place is returned in registers, without narrow stores that a wide load would wait for.
enum class Group : std::size_t { Input, Output, State, Derivative, Parameter, Counter, Time, Indicator };

/// Calls that a strict FMU counts, in the order of their value references.
enum class Counter { DoStep, Set, Get };
inline constexpr std::array<const char*, 3> kCounterNames = {"calls.doStep", "calls.set", "calls.get"};

struct Place {
  Group group;
  std::size_t index;
};

/// Value references of a model: inputs 100.., outputs 200.., states 300.., derivatives 400.., parameters 500.., event
/// indicators 600.., counters 900.., the time 1. A model with more than 100 variables of a kind gets blocks of the next
/// power of ten.
class References {
 public:
  References(const Model& model, const FmuOptions& options);

  Reference of(Group group, std::size_t index) const;
  Reference of_state(std::size_t state) const;
  /// The state that this output is; nullopt for an output that is calculated.
  std::optional<std::size_t> state_of_output(std::size_t output) const { return state_of_output_[output]; }
  std::optional<std::size_t> output_of_state(std::size_t state) const { return output_of_state_[state]; }

  /// nullopt for a reference that is not in the description.
  std::optional<Place> find(Reference reference) const {
    for (const auto& [group, first, count] : blocks_) {
      const Reference index = reference - first;  // wraps around below the block
      if (index < count) return Place{group, index};
    }
    return std::nullopt;
  }

 private:
  struct Block {
    Group group;
    Reference first;
    std::size_t count;
  };

  std::vector<std::optional<std::size_t>> state_of_output_;
  std::vector<std::optional<std::size_t>> output_of_state_;
  std::array<Block, 8> blocks_;
};

}  // namespace entrain::fmukit
