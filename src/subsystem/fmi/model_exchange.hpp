#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "entrain/subsystem.hpp"
#include "numerics/ode.hpp"
#include "subsystem/fmi/fmu_linearizer.hpp"
#include "subsystem/fmi/fmu_stepper.hpp"

namespace entrain::subsystem {

/// One instance of a model-exchange FMU, advanced by our integrator (docs/theory/model_exchange.md). It begins in the
/// initialization mode, which it leaves when it is first asked for more than outputs; from then on the FMU is in
/// continuous-time mode between calls.
class ModelExchange final : public FmuStepper, public Equations {
 public:
  /// Borrows `fmu`, `ports` and `reporter`. `tolerance`: relative; the absolute one is 0.01 tolerance * nominal value.
  ModelExchange(const Fmu& fmu, const FmuPorts& ports, double tolerance, FmuReporter& reporter);

  void start(FmuInstance& instance, const FmuAbilities& abilities, Time start, Time stop) override;
  /// Leaves the initialization mode if it is still there.
  void begin();
  /// The integrator goes on from step to step, and starts afresh at events and jumps alone: a step depends on those
  /// before it.
  void never_goes_back() override { keeps_ = true; }
  void finish_initialization(std::span<double> outputs) override;
  StepReport step(const Subsystem::Step& step, std::span<double> outputs) override;
  void evaluate(std::span<const double> inputs, std::span<double> outputs) override;
  void save(std::size_t slot) override;
  void restore(std::size_t slot) override;
  base::Bytes serialize(std::size_t slot) override { return base::to_bytes(saved_[slot]); }
  void deserialize(std::size_t slot, std::span<const std::byte> bytes) override;
  void change(base::FunctionRef<FmuResult()> set) override;
  Equations* equations() noexcept override { return this; }
  Time next_event(Time t) override;

  bool finds_events() const override { return indicators_ > 0 || wants_completed_steps(); }
  bool event_waits() const override;
  void enter_events() override;
  EventMode::Update update_events() override;
  void leave_events() override;
  void set_inputs(std::span<const double> inputs) override;
  void read_outputs(std::span<double> outputs) override;

  // At the point reached.
  void states(std::span<double> x) override;
  void state(std::span<double> x) override { states(x); }
  void derivatives(std::span<double> dx) override;
  void linearize(Linearization& result) override;
  void output_derivatives(std::span<double> dy) override;

  void right_hand_side(const Point& at, std::span<double> dx) override;
  void outputs(const Point& at, std::span<double> y) override;
  void output_rates(const Point& at, std::span<double> dy) override;
  bool reads_input_derivatives() const override { return false; }
  Time next_discontinuity(Time t) const override;
  std::size_t event_indicator_count() const override { return indicators_; }
  void event_indicators(const Point& at, std::span<double> z) override;
  bool handle_event(const Point& at, std::span<double> x) override;
  bool wants_completed_steps() const override { return description_.model_exchange->needs_completed_step; }
  bool complete_step(const Point& at) override;
  bool stop_requested() const override { return terminate_; }
  void move_to(const Point& at) override;

 private:
  /// With what is inside the FMU, everything a step depends on: the point reached, and the inputs as they ended there.
  struct Here {
    Time t = 0.0;
    Time next_event = kNever;      ///< announced
    bool inputs_changed = false;   ///< without event mode, since the last step: the next one begins with it
    bool event_waits = false;      ///< one was found, to be handled with the other subsystems
    Duration stiff_from = kNever;  ///< a step of this size took the explicit integrator too long
    std::vector<double> x, u, du;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(t, next_event, inputs_changed, event_waits, stiff_from, x, u, du);
    }
  };

  void require(const FmuResult& result) { reporter_.require(result, here_.t); }
  void put_back(const Here& here);
  void make_solver();
  FmuResult set_continuous_inputs(std::span<const double> u);
  void set_point(Time t, std::span<const double> x, std::span<const double> u);
  void set_here();
  bool put_inputs(const InputBlock& inputs, Duration s);
  Duration advance(const Subsystem::Step& step, Duration s, Time end);
  numerics::OdeReached integrate(const Subsystem::Step& step, Duration s, Time stop);
  numerics::OdeReached solve(Duration s, Duration end, const numerics::OdeProblem& problem);
  numerics::OdeReached go_on(Duration s, Duration end, const numerics::OdeProblem& problem);
  numerics::OdeSolver& integrator();
  void choose_integrator();
  void judge_stiff();
  bool report_completed_step();
  void meet_event();
  void prepare_integration();
  void handle_event_here();
  void handle_event_here(base::FunctionRef<FmuResult()> in_event_mode);
  [[noreturn]] void throw_unexpected_event() const;
  void linearize_by_differences(Linearization& result);
  void differentiate(double& argument, double nominal, std::size_t column, Matrix& to_dx, Matrix& to_y);
  void rates(std::span<const double> du, std::span<double> dy);
  void add_explicit_rates(std::span<double> dy);

  const FmuPorts& ports_;
  const FmuDescription& description_;
  const double tolerance_;
  FmuReporter& reporter_;
  FmuInstance* instance_ = nullptr;
  bool directional_ = false;
  bool begun_ = false;
  bool in_events_ = false;  ///< in event mode, between two steps
  bool prepared_ = false;   ///< the integration
  std::size_t indicators_ = 0;
  std::optional<numerics::OdeSolver> explicit_;  ///< none when there is nothing to integrate and nothing to watch
  std::optional<numerics::OdeSolver> stiff_;     ///< as well
  std::optional<numerics::OdeSolver> adams_;     ///< where the integrator is kept

  /// Of an integrator that is kept.
  enum class Integrator { Explicit, Adams, Stiff };
  bool keeps_ = false;
  bool starts_ = true;  ///< the next integration starts afresh
  Integrator integrator_ = Integrator::Explicit;
  /// What an integrator cost.
  struct Cost {
    long evaluations = 0;  ///< of derivatives
    Duration time = 0.0;   ///< that they served
    int steps = 0;         ///< of the subsystem

    bool exceeds(const Cost& other) const {
      return static_cast<double>(evaluations) * other.time > static_cast<double>(other.evaluations) * time;
    }
  };
  long evaluations_ = 0;  ///< of derivatives, so far
  Cost many_;             ///< of the explicit one, where it made many steps in one
  Cost trial_;            ///< of the stiff one, which takes over for a while
  bool tries_stiff_ = false;
  bool explicit_is_better_ = false;
  int short_steps_ = 0;     ///< in a row: the end of a step cut the only one of the explicit integrator
  Duration counted_ = 0.0;  ///< its time, from its start on ...
  Duration origin_ = 0.0;   ///< ... and that at the start of the step

  Time stop_ = kNever;
  Here here_;
  std::vector<Here> saved_;
  bool here_is_set_ = false;  ///< the FMU is where here_ is
  bool may_go_back_ = false;
  bool by_states_ = false;              ///< saved states are here_ alone
  bool event_wanted_ = false;           ///< by the FMU after an internal step
  bool terminate_ = false;              ///< the FMU asks to end the run
  std::optional<FmuResult> discarded_;  ///< the last call that the FMU could not do at the point asked for

  std::vector<bool> discrete_;  ///< by input: it may change in event mode only, so it is held
  bool has_discrete_ = false;   ///< among the real inputs
  std::vector<ValueReference> continuous_doubles_, continuous_floats_;  ///< the others, by their type
  FmuReals continuous_inputs_;                                          ///< both
  std::vector<double> continuous_values_;                               ///< of them
  std::vector<double> nominals_;
  std::vector<double> state_;  ///< of the solver: x, or one that rests when there are indicators but no states
  std::vector<double> u_, seed_, dx_, up_, down_, y_;
  std::vector<ValueReference> seeded_;
  FmuLinearizer linearizer_;
  Linearization linearization_;
};

/// The tolerance when neither the user nor the FMU names one.
inline constexpr double kExchangeTolerance = 1e-10;
inline constexpr double kSingleExchangeTolerance = 1e-6;  // of states of type Float32

/// "Runge-Kutta, BDF where stiff, tolerance 1e-10": how it is integrated, in words.
std::string integrator_text(double tolerance);

}  // namespace entrain::subsystem
