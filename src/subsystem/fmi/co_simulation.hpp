#pragma once

#include <string>
#include <vector>

#include "subsystem/fmi/fmu_linearizer.hpp"
#include "subsystem/fmi/fmu_stepper.hpp"
#include "subsystem/fmi/input_derivatives.hpp"

namespace entrain::subsystem {

/// An FMU that makes its steps itself.
class CoSimulation final : public FmuStepper, private FmuStepOwner {
 public:
  /// Borrows all.
  CoSimulation(const Fmu& fmu, const FmuPorts& ports, FmuReporter& reporter);

  void start(FmuInstance& instance, const FmuAbilities& abilities, Time start, Time stop) override;
  void evaluate(std::span<const double> inputs, std::span<double> outputs) override;
  void finish_initialization(std::span<double> outputs) override;
  StepReport step(const Subsystem::Step& step, std::span<double> outputs) override;
  HeldStep held_step() noexcept override {
    if (!ports_.plain) return {};  // arrays and numbers of 32 bits take the general path
    return {three_ ? fmi3_held_step() : one_ ? fmi1_held_step() : fmi2_held_step(), &held_};
  }
  void save(std::size_t slot) override;
  void restore(std::size_t slot) override;
  base::Bytes serialize(std::size_t slot) override;
  void deserialize(std::size_t slot, std::span<const std::byte> bytes) override;
  void change(base::FunctionRef<FmuResult()> set) override;

  void states(std::span<double> x) override;
  void derivatives(std::span<double> dx) override;
  void linearize(Linearization& result) override;
  void output_derivatives(std::span<double> dy) override;
  Time next_event(Time t) override;

  bool finds_events() const override { return abilities_ != nullptr && abilities_->event_mode; }
  bool watch_steps(const std::function<bool(Time)>* watch) override { return instance_->watch_steps(watch); }
  bool event_waits() const override;
  void enter_events() override;
  EventMode::Update update_events() override;
  void leave_events() override;
  void set_inputs(std::span<const double> inputs) override;
  void read_outputs(std::span<double> outputs) override;

 private:
  /// Where the last step ended, what the inputs did in it, what its events left: with the state of the FMU, all that
  /// what follows depends on.
  struct End {
    Time time = 0.0;
    Duration size = 0.0;
    int degree = 0;
    bool inputs_set = true;  ///< the FMU has the inputs as they ended
    std::vector<double> coefficients;
    Time next_event = kNever;            ///< announced
    bool stop_requested = false;         ///< by an event, to be reported with the next step
    int taken_degree = kMaxInputDegree;  ///< of the inputs, as far as the run has shown
    bool event_waits = false;            ///< one was found, to be handled with the other subsystems
    bool in_events = false;              ///< in event mode, between two steps

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(time, size, degree, inputs_set, coefficients, next_event, stop_requested, taken_degree, event_waits,
            in_events);
    }
  };

  void require(const FmuResult& result) { reporter_.require(result, end_.time); }
  /// Ready to be asked: the initialization is left, and the result of held steps is recorded.
  void settle();
  void keep_end(const InputBlock& inputs, Duration size);
  InputBlock of_taken_degree(const InputBlock& inputs, Duration size);
  void take_lower_degree(int refused_order);
  void set_inputs_at_end();
  const StepReport* step_at_length(const Subsystem::Step& step, double* outputs) override;
  const StepReport* resume(const FmuHalt& halt, const Subsystem::Step& step, double* outputs) override;
  const StepReport* unless_completed(const StepReport& report);
  void open_held_step();
  StepReport unusual(const Subsystem::Step& step, const FmuStepResult& result, std::span<double> outputs);
  void handle_event(base::FunctionRef<FmuResult()> in_event_mode);
  StepReport discarded(const Subsystem::Step& step, const FmuStepResult& result, std::span<double> outputs);
  [[noreturn]] void throw_endless_events();

  const FmuPorts& ports_;
  const bool variable_step_;
  const bool one_;    ///< FMI 1
  const bool three_;  ///< FMI 3: polynomial inputs are sent by intermediate update, else by their derivatives
  FmuReporter& reporter_;
  FmuInstance* instance_ = nullptr;
  const FmuAbilities* abilities_ = nullptr;
  bool initializing_ = true;
  Time stop_ = kNever;
  int events_in_place_ = 0;  ///< since the last one that advanced
  int halvings_ = 0;         ///< of a step that was discarded
  FmuStepCall call_;
  FmuHeldStep held_;
  StepReport report_;
  End end_;
  std::vector<End> saved_;
  InputDerivatives derivatives_;
  std::vector<double> reduced_;  ///< inputs of a degree that the FMU takes
  std::vector<double> end_slopes_;
  std::vector<int> first_orders_;
  std::vector<double> dx_;
  FmuLinearizer linearizer_;
  Linearization here_;
};

}  // namespace entrain::subsystem
