#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/variable.hpp"

namespace entrain {

/// Highest degree of an input polynomial anywhere in the engine (cubic Hermite).
inline constexpr int kMaxInputDegree = 3;

/// Which outputs depend directly on which inputs.
class ENTRAIN_API Feedthrough {
 public:
  Feedthrough() = default;
  Feedthrough(std::size_t outputs, std::size_t inputs, bool value = false)
      : inputs_(inputs), depends_(outputs * inputs, value) {}

  std::size_t outputs() const { return inputs_ == 0 ? 0 : depends_.size() / inputs_; }  ///< 0 without inputs
  std::size_t inputs() const { return inputs_; }
  bool operator()(std::size_t output, std::size_t input) const { return depends_[output * inputs_ + input]; }
  void set(std::size_t output, std::size_t input, bool value) { depends_[output * inputs_ + input] = value; }
  bool any() const;
  bool operator==(const Feedthrough&) const = default;

 private:
  std::size_t inputs_ = 0;
  std::vector<bool> depends_;
};

/// What is made use of where a subsystem has it. What nothing in a run uses is not tried on its FMUs before.
struct CapabilityUse {
  bool rollback = true;
  bool linearization = true;
  bool input_degree = true;  ///< inputs that are no constants
  bool output_derivatives = true;
  bool reset = true;
  bool operator==(const CapabilityUse&) const = default;

  static constexpr CapabilityUse none() { return {false, false, false, false, false}; }
};

/// What a subsystem can do, as data: methods are matched against it before time zero.
/// The system file can take capabilities away, never add one.
struct Capabilities {
  bool rollback = false;            ///< its state can be saved and restored
  int input_degree = 0;             ///< highest polynomial degree it honours inside a step
  int output_derivative_order = 0;  ///< highest time derivative of the outputs it provides
  bool states = false;              ///< it provides its continuous states ...
  bool state_derivatives = false;   ///< ... and their derivatives
  bool linearization = false;       ///< it provides A, B, C, D at the point reached
  bool output_refresh = false;      ///< outputs can be evaluated for other inputs without a step
  bool equations = false;           ///< f and g can be called by an integrator outside (monolithic)
  bool announces_events = false;    ///< it announces the time of its next discontinuity
  bool reset = false;               ///< it can be run again from the start
  bool function = false;          ///< y = g(u) and nothing else: explicit methods evaluate it at once, not a step late
  bool once_per_process = false;  ///< it can be made once only; without reset it cannot be run twice
  bool calling_thread = false;    ///< it is called by the thread that runs the system, whatever threads there are
  std::optional<Duration> imposed_step;
  Duration step_offset = 0.0;  ///< of the imposed communication times: the first step is this long if it is not 0
  std::optional<Duration> min_step;
  std::optional<Duration> max_step;
  std::optional<Duration> initial_step;   ///< a good first one, where the method adapts the step
  std::optional<Duration> internal_step;  ///< inputs inside a step are held over internal steps of this size
  int substeps = 1;  ///< as the user wrote: a step under polynomials above input_degree is made in this many parts
  Feedthrough feedthrough;
  CapabilityUse tried = {};  ///< what is not, because nothing uses it, counts as absent
};

}  // namespace entrain
