#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/grid.hpp"
#include "coupling/coupled_system.hpp"
#include "masters/method.hpp"

namespace entrain {

/// a / b when that is a whole number >= 1 (up to rounding of the two decimal numbers).
std::optional<std::uint64_t> whole_ratio(Duration a, Duration b);

/// Who steps when, on a common grid of macro steps: an imposed step may span several macro steps or fit into one
/// several times; a macro step beyond a maximal step is cut.
class Calendar {
 public:
  void start(const CoupledSystem& system, const RunSettings& settings);

  const Grid& grid() const { return grid_; }
  Time time(std::uint64_t step) const { return grid_.time(step); }

  bool starts(SubsystemId s, std::uint64_t step) const { return step % span_[s] == 0; }
  bool ends(SubsystemId s, std::uint64_t step) const { return (step + 1) % span_[s] == 0; }
  /// The macro step in which the step of `s` that is under way in `step` began.
  std::uint64_t begin_of(SubsystemId s, std::uint64_t step) const { return step - step % span_[s]; }
  /// The size of the step of `s` that starts with macro step `step`.
  Duration size(SubsystemId s, std::uint64_t step) const;
  /// The step of `s` that ends with macro step `step`.
  StepTask task(SubsystemId s, std::uint64_t step, int degree) const;

 private:
  Grid grid_;
  std::vector<std::uint32_t> span_;   // macro steps per step of the subsystem
  std::vector<int> parts_;            // steps of the subsystem per macro step
};

}  // namespace entrain
