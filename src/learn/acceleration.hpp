#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace entrain::learning {

/// Makes the next corrections of several runs instead of the last one alone (Anderson, "Iterative procedures for
/// nonlinear integral equations", 1965): of the corrections c_j that were run and the ones G(c_j) that were learned
/// from them, the combination whose steps G - c cancel best in the mean square.
class Acceleration {
 public:
  /// `memory`: runs that are remembered besides the last; 0 = corrections stay as they were learned. `wires`: learned
  /// connections, whose corrections lie macro step by macro step and may differ in unit.
  Acceleration(int memory, std::size_t wires) : memory_(static_cast<std::size_t>(memory)), wires_(wires) {}

  /// `learned` was made of the run with `corrections`, and becomes what the next run takes.
  void combine(const std::vector<double>& corrections, std::vector<double>& learned);
  /// Runs to another horizon have nothing in common with those before.
  void forget() { past_.past.clear(); }

  struct Run {
    std::vector<double> learned;
    std::vector<double> step;  // learned - corrections, each connection relative to its size in the first run

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(learned, step);
    }
  };
  struct Memory {
    std::vector<double> scales;  // per wire
    std::deque<Run> past;        // the newest last

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(scales, past);
    }
  };
  const Memory& memory() const { return past_; }
  void restore(const Memory& memory) { past_ = memory; }

 private:
  std::vector<double> scaled_step(const std::vector<double>& corrections, const std::vector<double>& learned);

  std::size_t memory_;
  std::size_t wires_;
  Memory past_;
};

}  // namespace entrain::learning
