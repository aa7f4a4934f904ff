#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "entrain/coupled_system.hpp"

namespace entrain::method {

/// What becomes of the samples that a connection delivers before they enter the history of its input.
class InputFilter {
 public:
  virtual ~InputFilter() = default;
  /// `last`: what this gave for the sample before.
  virtual double filtered(InputId input, double last, double sample) const = 0;
};

/// Input polynomials of the explicit methods: through the latest samples that each connection delivered
/// (docs/theory/inputs.md). On a grid samples lie on whole macro steps, so their distances are exact integers.
class ExtrapolatedInputs {
 public:
  struct Settings {
    int degree = 0;
    bool constant_history = false;  ///< fill the history with the start value instead of growing into the degree
    Duration unit = 0.0;  ///< of the times that samples are given with, in s: the macro step, or 1 where it varies
    const InputFilter* filter = nullptr;  ///< of the samples
  };

  void start(const CoupledSystem& system, Settings settings);

  /// For each subsystem: the time of its outputs, in units; and whether they are those behind a jump at the end of the
  /// step to be prepared, which are no samples for it (empty: of none).
  struct Sources {
    std::span<const double> sample_at;
    std::span<const unsigned char> jumped;
  };
  /// Takes the samples that the connections of `s` deliver now and writes the polynomials of its step that starts at
  /// `now`, in units. Returns the degree.
  int prepare(CoupledSystem& system, SubsystemId s, double now, const Sources& sources);

  /// Degree 0, no filter: an input is what its connection delivers now, and nothing is remembered.
  bool plain_hold() const { return plain_hold_; }

  /// No polynomial may span a jump of this subsystem's outputs: its consumers begin a new history.
  void cut_history(const CoupledSystem& system, SubsystemId source);
  /// Inputs that no output feeds were given other values: no history is continued across.
  void cut_constants(const CoupledSystem& system);

  /// Past samples by hand: value(input, k) is what the input received k = 1, 2, 3 macro steps before the start.
  void seed(const std::function<double(InputId, int)>& value);

  static constexpr std::size_t kSamples = kMaxInputDegree + 1;
  struct History {
    std::array<double, kSamples> value{};  ///< newest first
    std::array<double, kSamples> at{};     ///< when each was, in units; negative before the start
    std::size_t count = 0;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(value, at, count);
    }
  };
  using Memory = std::vector<History>;  ///< per input
  const Memory& memory() const { return histories_; }
  void restore(const Memory& memory) { histories_ = memory; }

 private:
  void take_sample(InputId input, double value, double at);

  Settings settings_;
  Memory histories_;
  bool plain_hold_ = true;
};

}  // namespace entrain::method
