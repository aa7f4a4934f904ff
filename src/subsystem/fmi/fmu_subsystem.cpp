#include "subsystem/fmi/fmu_subsystem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "base/grid.hpp"
#include "entrain/error.hpp"
#include "subsystem/fmi/fmu.hpp"

namespace entrain {
namespace {

constexpr std::array<double, kMaxInputDegree + 1> kFactorial{1.0, 1.0, 2.0, 6.0};

class FmuSubsystem final : public Subsystem,
                           private Rollback,
                           private States,
                           private Linearizer,
                           private OutputDerivatives,
                           private Reset {
 public:
  FmuSubsystem(std::string name, std::shared_ptr<Fmu> fmu, std::optional<Duration> timeout);
  ~FmuSubsystem() override;

  std::string_view name() const noexcept override { return name_; }
  const VariableTable& variables() const noexcept override { return ports_.table; }
  const Capabilities& capabilities() const override;
  Facets facets() noexcept override;
  std::vector<std::string> warnings() const override;

  void set_start(VariableTable::Place place, const Value& value) override;
  void initialize(Time start, Time stop) override;
  void evaluate(std::span<const double> inputs, std::span<double> outputs) override;
  StepReport step(const Step& step, std::span<double> outputs) override;

 private:
  enum class Phase { Created, Initializing, Stepping, Failed };

  /// What the inputs did in the last step: with the state of the FMU, all that the facets depend on.
  struct End {
    Time time = 0.0;
    Duration size = 0.0;
    int degree = 0;
    bool told = true;  ///< the FMU has the inputs as they ended
    std::vector<double> coefficients;
  };
  struct Saved {
    FmuInstance::State state = nullptr;
    End end;
  };

  StateId save() override;
  void restore(StateId id) override;
  void release(StateId id) override { free_.push_back(id); }
  void states(std::span<double> x) override;
  void derivatives(std::span<double> dx) override;
  void linearize(Linearization& result) override;
  void output_derivatives(std::span<double> dy) override;
  void reset() override;

  const FmuAbilities& proven() const;
  void require(const FmuResult& result);
  void leave_initialization();
  void set_derivative_call(const InputBlock& inputs);
  void keep_end(const InputBlock& inputs, Duration size);
  void tell_inputs_at_end();
  StepReport unusual(const FmuStepResult& result, const FmuStepCall& call);
  void free_saved();

  std::string name_;
  std::shared_ptr<Fmu> fmu_;
  std::shared_ptr<const std::string> claim_;
  const FmuPorts& ports_;
  std::vector<FmuStart> starts_;
  mutable std::optional<Capabilities> capabilities_;
  mutable bool own_output_derivatives_ = false;

  FmuLog log_;
  std::unique_ptr<FmuInstance> instance_;
  Phase phase_ = Phase::Created;
  Time stop_ = kNever;
  FmuStepCall call_;
  End end_;
  /// Input derivatives for one call, order by order.
  std::vector<ValueReference> derivative_inputs_;
  std::vector<int> derivative_orders_;
  std::vector<double> derivative_values_;
  int highest_sent_ = 0;  ///< an FMU may keep derivatives for the next step: once sent, an order is always sent
  std::vector<double> end_values_, end_slopes_;
  std::vector<int> first_orders_;
  std::vector<double> column_, dx_;
  Linearization here_;

  std::vector<Saved> saved_;
  std::vector<StateId> free_;
  std::uint64_t warnings_returned_ = 0;
  std::string first_warning_;
};

FmuSubsystem::FmuSubsystem(std::string name, std::shared_ptr<Fmu> fmu, std::optional<Duration> timeout)
    : name_(std::move(name)),
      fmu_(std::move(fmu)),
      claim_(fmu_->claim(name_)),
      ports_(fmu_->ports()),
      log_(fmu_->name(), {name_, timeout}),
      end_values_(ports_.inputs.size()),
      end_slopes_(ports_.inputs.size()),
      first_orders_(ports_.outputs.size(), 1),
      column_(ports_.unknowns.size()),
      dx_(ports_.states.size()) {
  call_.inputs = ports_.inputs;
  call_.outputs = ports_.outputs;
}

FmuSubsystem::~FmuSubsystem() {
  free_saved();
}

const Capabilities& FmuSubsystem::capabilities() const {
  if (capabilities_) return *capabilities_;
  const FmuAbilities& abilities = proven();
  Capabilities can;
  can.rollback = abilities.rollback;
  can.input_degree = abilities.input_degree;
  can.states = abilities.states;
  can.state_derivatives = abilities.states;
  can.linearization = abilities.linearization;
  own_output_derivatives_ = abilities.output_derivatives;
  can.output_derivative_order = abilities.output_derivatives || abilities.linearization ? 1 : 0;
  can.reset = abilities.reset;
  can.imposed_step = abilities.imposed_step;
  can.feedthrough = ports_.feedthrough;
  capabilities_ = std::move(can);
  return *capabilities_;
}

/// Proven on a scratch instance; what goes wrong there is told as ours.
const FmuAbilities& FmuSubsystem::proven() const {
  try {
    return fmu_->abilities(starts_, {name_, log_.code().owner().timeout});
  } catch (const Error& error) {
    ErrorContext context = error.context();
    context.subsystem = name_;
    throw Error(error.code(), error.message(), context);
  }
}

Facets FmuSubsystem::facets() noexcept {
  if (!capabilities_) return {};  // nothing is promised before capabilities() was asked
  const Capabilities& can = *capabilities_;
  Facets facets;
  if (can.rollback) facets.rollback = this;
  if (can.states) facets.states = this;
  if (can.linearization) facets.linearizer = this;
  if (can.output_derivative_order > 0) facets.output_derivatives = this;
  if (can.reset) facets.reset = this;
  return facets;
}

std::vector<std::string> FmuSubsystem::warnings() const {
  std::vector<std::string> all = ports_.warnings;
  const auto& withdrawn = proven().warnings;
  all.insert(all.end(), withdrawn.begin(), withdrawn.end());
  if (warnings_returned_ > 0) {
    all.push_back(fmt::format("'{}' returned a warning {} times, first {}", name_, warnings_returned_, first_warning_));
  }
  return all;
}

void FmuSubsystem::set_start(VariableTable::Place place, const Value& value) {
  assert(place.causality != Causality::Output);
  const std::size_t variable = ports_.variable_of(place);
  const auto known =
      std::find_if(starts_.begin(), starts_.end(), [&](const FmuStart& start) { return start.variable == variable; });
  if (known != starts_.end()) {
    known->value = value;
  } else {
    starts_.push_back({variable, value});
  }
}

void FmuSubsystem::require(const FmuResult& result) {
  if (result.done()) return;
  phase_ = Phase::Failed;
  require_done(result, log_, {.subsystem = name_, .variable = {}, .time = end_.time, .remedy = {}});
}

void FmuSubsystem::initialize(Time start, Time stop) {
  const int degree = capabilities().input_degree;
  const std::size_t count = ports_.inputs.size();
  derivative_inputs_.clear();
  derivative_orders_.clear();
  for (int p = 1; p <= degree; ++p) {
    derivative_inputs_.insert(derivative_inputs_.end(), ports_.inputs.begin(), ports_.inputs.end());
    derivative_orders_.insert(derivative_orders_.end(), count, p);
  }
  derivative_values_.assign(derivative_inputs_.size(), 0.0);
  end_ = {start, 0.0, 0, true, std::vector<double>(count * static_cast<std::size_t>(degree + 1))};
  highest_sent_ = 0;
  call_.derivative_inputs = {};
  stop_ = stop;
  call_.may_go_back = false;
  if (!instance_) instance_ = fmu_->instantiate(name_, log_);
  phase_ = Phase::Failed;
  begin_initialization(*instance_, fmu_->description(), starts_, start, stop, log_, name_);
  phase_ = Phase::Initializing;
}

void FmuSubsystem::leave_initialization() {
  require(instance_->exit_initialization());
  phase_ = Phase::Stepping;
}

void FmuSubsystem::evaluate(std::span<const double> inputs, std::span<double> outputs) {
  end_.degree = 0;
  if (!inputs.empty()) require(instance_->set_reals(ports_.inputs, inputs.data()));
  if (!outputs.empty()) require(instance_->get_reals(ports_.outputs, outputs.data()));
}

StepReport FmuSubsystem::step(const Step& step, std::span<double> outputs) {
  if (phase_ == Phase::Initializing) leave_initialization();
  call_.from = step.from;
  call_.size = step.size;
  // An FMU refuses to pass the stop time, be it by a rounding.
  if (step.from + step.size > stop_ && stop_ > step.from) call_.size = stop_ - step.from;
  call_.input_values = step.inputs.order(0).data();
  const int degree = ports_.inputs.empty() ? 0 : step.inputs.degree();
  if (degree > 0 || highest_sent_ > 0) set_derivative_call(step.inputs);
  const FmuStepResult result = instance_->step(call_, outputs.data());
  end_.time = result.reached;
  end_.degree = 0;
  if (degree > 0) keep_end(step.inputs, result.reached - step.from);
  if (result.result.status == FmuStatus::Ok && !result.terminated && result.reached == call_.from + call_.size) {
    return {result.reached};
  }
  return unusual(result, call_);
}

StepReport FmuSubsystem::unusual(const FmuStepResult& result, const FmuStepCall& call) {
  const FmuStatus status = result.result.status;
  if (status >= FmuStatus::Error) {
    phase_ = Phase::Failed;
    require_done(result.result, log_, {.subsystem = name_, .variable = {}, .time = call.from, .remedy = {}});
  }
  if (status == FmuStatus::Warning && warnings_returned_++ == 0) {
    first_warning_ = fmt::format("from {} at t = {} s{}", result.result.function, call.from, log_.take_text());
  }
  StepReport report{result.reached, StepOutcome::Completed, result.terminated};
  if (status == FmuStatus::Discard) {  // the standard allows no further step from here, only going back
    report.outcome = result.terminated && result.reached > call.from ? StepOutcome::EndedEarly : StepOutcome::Rejected;
    return report;
  }
  if (!(result.reached > call.from) || same_time(result.reached, call.from)) {
    report.outcome = StepOutcome::Rejected;
  } else if (!reached(result.reached, call.from + call.size)) {
    report.outcome = StepOutcome::EndedEarly;
  } else {
    report.reached = end_.time = call.from + call.size;
  }
  return report;
}

/// u(s) = sum_p c_p s^p has the p-th derivative p! c_p at the start of the step.
void FmuSubsystem::set_derivative_call(const InputBlock& inputs) {
  highest_sent_ = std::max(highest_sent_, inputs.degree());
  const std::size_t count = inputs.count();
  const std::size_t total = count * static_cast<std::size_t>(highest_sent_);
  double* next = derivative_values_.data();
  for (int p = 1; p <= highest_sent_; ++p) {
    for (std::size_t i = 0; i < count; ++i) {
      *next++ = p <= inputs.degree() ? kFactorial[static_cast<std::size_t>(p)] * inputs.order(p)[i] : 0.0;
    }
  }
  call_.derivative_inputs = std::span(derivative_inputs_).first(total);
  call_.derivative_orders = derivative_orders_.data();
  call_.derivative_values = derivative_values_.data();
}

void FmuSubsystem::keep_end(const InputBlock& inputs, Duration size) {
  end_.size = size;
  end_.degree = inputs.degree();
  end_.told = false;
  const double* from = inputs.order(0).data();
  std::copy(from, from + inputs.count() * static_cast<std::size_t>(inputs.degree() + 1), end_.coefficients.begin());
}

/// The standard leaves open whether an FMU that was given derivatives holds, after the step, the inputs of its start or
/// of its end. What follows (derivatives, linearization) must belong to the end.
void FmuSubsystem::tell_inputs_at_end() {
  if (phase_ == Phase::Initializing) leave_initialization();
  if (end_.degree == 0) {
    std::fill(end_slopes_.begin(), end_slopes_.end(), 0.0);
    return;
  }
  const InputBlock inputs(end_.coefficients.data(), ports_.inputs.size(), end_.degree);
  for (std::size_t i = 0; i < inputs.count(); ++i) {
    end_values_[i] = inputs.value(i, end_.size);
    end_slopes_[i] = inputs.slope(i, end_.size);
  }
  if (std::exchange(end_.told, true)) return;
  const std::size_t count = inputs.count();
  std::fill(derivative_values_.begin(), derivative_values_.end(), 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    derivative_values_[i] = end_slopes_[i];
    if (end_.degree > 1) derivative_values_[count + i] = inputs.curvature(i, end_.size);
    if (end_.degree > 2) derivative_values_[2 * count + i] = kFactorial[3] * inputs.order(3)[i];
  }
  require(instance_->set_reals(ports_.inputs, end_values_.data()));
  require(instance_->set_input_derivatives(
      std::span(derivative_inputs_).first(count * static_cast<std::size_t>(highest_sent_)), derivative_orders_.data(),
      derivative_values_.data()));
}

StateId FmuSubsystem::save() {
  if (phase_ == Phase::Initializing) leave_initialization();
  call_.may_go_back = true;
  if (free_.empty()) {
    saved_.emplace_back();
    free_.reserve(saved_.size());  // so that release never allocates
    free_.push_back(static_cast<StateId>(saved_.size() - 1));
  }
  const StateId id = free_.back();
  free_.pop_back();
  Saved& saved = saved_[static_cast<std::size_t>(id)];
  require(instance_->get_state(saved.state));
  saved.end = end_;
  return id;
}

void FmuSubsystem::restore(StateId id) {
  const Saved& saved = saved_[static_cast<std::size_t>(id)];
  require(instance_->set_state(saved.state));
  end_ = saved.end;
}

void FmuSubsystem::free_saved() {
  for (auto& saved : saved_) {
    if (phase_ == Phase::Failed || !log_.code().usable() || saved.state == nullptr) continue;
    try {
      const FmuResult freed = instance_->free_state(saved.state);
      if (freed.status >= FmuStatus::Error) phase_ = Phase::Failed;
    } catch (const Error&) {  // the function is not in the library: nothing can be freed
      break;
    }
  }
  saved_.clear();
  free_.clear();
}

void FmuSubsystem::states(std::span<double> x) {
  if (phase_ == Phase::Initializing) leave_initialization();
  if (!x.empty()) require(instance_->get_reals(ports_.states, x.data()));
}

void FmuSubsystem::derivatives(std::span<double> dx) {
  tell_inputs_at_end();
  if (!dx.empty()) require(instance_->get_reals(ports_.derivatives, dx.data()));
}

void FmuSubsystem::linearize(Linearization& result) {
  tell_inputs_at_end();
  const std::size_t states = ports_.states.size();
  const std::size_t inputs = ports_.inputs.size();
  const std::size_t outputs = ports_.outputs.size();
  result.A.resize(states, states);
  result.B.resize(states, inputs);
  result.C.resize(outputs, states);
  result.D.resize(outputs, inputs);
  const auto fill = [&](ValueReference known, std::size_t j, Matrix& to_dx, Matrix& to_y) {
    if (!column_.empty()) require(instance_->directional_derivative(ports_.unknowns, known, column_.data()));
    const double* next = column_.data();
    for (std::size_t i = 0; i < states; ++i) to_dx(i, j) = *next++;
    for (std::size_t i = 0; i < outputs; ++i) {
      if (!ports_.state_of_output[i]) to_y(i, j) = *next++;
    }
  };
  for (std::size_t j = 0; j < states; ++j) fill(ports_.states[j], j, result.A, result.C);
  for (std::size_t j = 0; j < inputs; ++j) fill(ports_.inputs[j], j, result.B, result.D);
  for (std::size_t i = 0; i < outputs; ++i) {
    if (ports_.state_of_output[i]) result.C(i, *ports_.state_of_output[i]) = 1.0;
  }
}

/// From the FMU, else along the motion: C f + D u'.
void FmuSubsystem::output_derivatives(std::span<double> dy) {
  if (dy.empty()) return;
  tell_inputs_at_end();
  if (own_output_derivatives_) {
    require(instance_->get_output_derivatives(ports_.outputs, first_orders_.data(), dy.data()));
    return;
  }
  linearize(here_);
  derivatives(dx_);
  for (std::size_t i = 0; i < dy.size(); ++i) {
    dy[i] = 0.0;
    for (std::size_t j = 0; j < dx_.size(); ++j) dy[i] += here_.C(i, j) * dx_[j];
    for (std::size_t j = 0; j < end_slopes_.size(); ++j) dy[i] += here_.D(i, j) * end_slopes_[j];
  }
}

void FmuSubsystem::reset() {
  free_saved();
  if (!instance_) return;
  require(instance_->reset());
  phase_ = Phase::Created;
}

}  // namespace

std::unique_ptr<Subsystem> make_fmu_subsystem(std::string name, const std::filesystem::path& file,
                                              std::optional<Duration> timeout) {
  return std::make_unique<FmuSubsystem>(std::move(name), Fmu::open(file), timeout);
}

std::shared_ptr<Fmu> hold_fmu(const std::filesystem::path& file) {
  return Fmu::open(file);
}

std::string fmu_title(const std::filesystem::path& file) {
  return Fmu::open(file)->title();
}

DefaultExperiment fmu_experiment(const std::filesystem::path& file) {
  return Fmu::open(file)->description().experiment;
}

}  // namespace entrain
