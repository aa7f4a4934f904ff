#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.hpp"
#include "coupling/engine.hpp"
#include "entrain/fact.hpp"
#include "entrain/subsystem.hpp"

namespace entrain::trials {

/// Several steps of a subsystem in a row, estimated from where it is: what stands in for trials by rollback where more
/// than one step is tried out (docs/theory/waveform.md).
class StepChain {
 public:
  /// Where the subsystem is.
  struct Here {
    Time t = 0.0;
    std::span<const double> held;     ///< inputs as it had them where its last step ended
    std::span<const double> raw;      ///< outputs as it returned them for these
    std::span<const double> outputs;  ///< the same, brought to the inputs that were meant
  };

  virtual ~StepChain() = default;
  /// Once after every step that was made; estimates begin here.
  virtual void observe(const Here& here) = 0;
  /// Back to where it was observed.
  virtual void begin() = 0;
  /// The outputs a step later under these inputs, for the values that they end with.
  virtual void step(Duration size, const InputBlock& inputs, std::span<double> outputs) = 0;
  /// How an output follows an input at once, where it is.
  virtual double direct_gain(std::size_t output, std::size_t input) const = 0;
  /// The signals jump here.
  virtual void forget_past() = 0;
  virtual std::optional<Fact> note(const std::string&) const { return std::nullopt; }

  virtual base::Bytes memory() const = 0;
  virtual void restore(std::span<const std::byte> bytes) = 0;
};

/// By its linearization where it provides one and no other estimator is written, else identified from its past. Null
/// where neither is possible.
std::unique_ptr<StepChain> make_step_chain(coupling::Engine& engine, SubsystemId s);

/// How outputs follow inputs at once where the run starts, outputs over inputs: by differences, for before the first
/// step outputs can be evaluated for any inputs. Where they do not follow, as those of some FMUs, nothing is known.
/// Empty without feedthrough, and where events are shared, which values would set off.
std::vector<double> start_gains(coupling::Engine& engine, SubsystemId s);

}  // namespace entrain::trials
