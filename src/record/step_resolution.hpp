#pragma once

#include <array>
#include <span>
#include <vector>

#include "entrain/simulation.hpp"
#include "record/octave_counts.hpp"

namespace entrain::recording {

/// How well the steps of a run resolve the signals that are passed on. Inputs that agree with their outputs at both
/// ends of a step can still miss what happens in between: a cubic with the right values and slopes at the ends has an
/// error of h^4 / 384 times the fourth derivative. It is estimated from each sample and the four around it, in bounded
/// memory (docs/theory/residual.md).
class StepResolution {
 public:
  void begin(std::span<const Signal> signals, const RunSummary& summary);
  void communicated(const Sample& sample);

  /// Of the source of a connection (as in RunSummary::connections), in its unit: what a `part` of the steps does not
  /// exceed. NaN when there are too few samples.
  double missed(std::size_t connection, double part) const;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(sources_, missed_, counts_);
  }

 private:
  static constexpr std::size_t kAround = 5;
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Source {
    std::size_t signal;
    std::size_t subsystem;
    std::size_t count = 0;
    std::array<Time, kAround> times{};  // newest first
    std::array<double, kAround> values{};

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(signal, subsystem, count, times, values);
    }
  };

  std::vector<Source> sources_;           // the outputs that are passed on
  std::vector<std::size_t> connections_;  // to sources_
  std::vector<double> missed_;            // by source, at the latest sample
  OctaveCounts counts_{0};
};

}  // namespace entrain::recording
