#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "coupling/engine.hpp"
#include "entrain/fact.hpp"
#include "entrain/subsystem.hpp"
#include "trials/stand_in.hpp"

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
  /// A real step under these inputs is about to be made: what is estimated of it is compared with what comes.
  virtual void expect(Duration, const InputBlock&) {}
  /// How an output follows an input at once, where it is.
  virtual double direct_gain(std::size_t output, std::size_t input) const = 0;
  /// The signals jump here.
  virtual void forget_past() = 0;
  /// How good it was, up to where it was observed last; nothing where it is by a linearization.
  virtual PredictionQuality quality() const { return {}; }

  virtual base::Bytes memory() const = 0;
  virtual void restore(std::span<const std::byte> bytes) = 0;
};

/// What a chain is made of: the estimator of a user that is written; else a linearization where the subsystem provides
/// one; else what is identified from its past. None where neither is possible.
enum class ChainKind { None, Named, Linearized, Identified };
ChainKind chain_kind(const coupling::Engine& engine, SubsystemId s);
/// Of one that is not None. `start_gains`: as the engine knows them; of Identified alone.
std::unique_ptr<StepChain> make_step_chain(coupling::Engine& engine, SubsystemId s, std::vector<double> start_gains);

}  // namespace entrain::trials
