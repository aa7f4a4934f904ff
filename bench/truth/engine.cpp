#include "truth/engine.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "entrain/model.hpp"
#include "numerics/ode.hpp"
#include "truth/integrate.hpp"

namespace entrain::truth {
namespace {

constexpr std::string_view kPrefix = "truth.";

VariableTable variables_of(const Part& part) {
  VariableTable table;
  for (const auto& input : part.inputs) table.inputs.push_back({input.name, input.unit, "", ValueType::Real, 0.0});
  for (const auto& output : part.outputs) {
    table.outputs.push_back({output.name, output.unit, "", ValueType::Real, std::nullopt});
  }
  for (std::size_t i = 0; i < part.start.size(); ++i) {
    table.states.push_back({"state" + std::to_string(i), "", "", ValueType::Real, part.start[i]});
  }
  return table;
}

Feedthrough feedthrough_of(const Part& part) {
  Feedthrough feedthrough(part.outputs.size(), part.inputs.size());
  for (const auto& [output, input] : part.direct) feedthrough.set(output, input, true);
  return feedthrough;
}

/// A part as a native model with every capability.
class PartModel final : public Model {
 public:
  explicit PartModel(const Part& part)
      : part_(part),
        variables_(variables_of(part)),
        dx_(part.start.size()),
        y_(part.outputs.size()),
        u_(part.inputs.size()),
        x_seed_(part.start.size()),
        u_seed_(part.inputs.size()),
        dx_seed_(part.start.size()),
        y_seed_(part.outputs.size()) {
    flow_.states = part.start.size();
    flow_.times = part.times;
    flow_.indicators = part.events.indicators;
    flow_.derivatives = [this](double t, const double* x, double* dx) {
      part_.equations.real({t, x, inputs_at(t), dx, y_.data()});
    };
    flow_.indicate = [this](double t, const double* x, double* z) { part_.events.indicate(t, x, inputs_at(t), z); };
    flow_.handle = [this](double t, double* x) {
      return part_.events.handle && part_.events.handle(t, x, inputs_at(t));
    };
  }

  const VariableTable& variables() const noexcept override { return variables_; }
  void configure(std::span<const Value>) override {}
  Feedthrough feedthrough() const override { return feedthrough_of(part_); }
  void derivatives(const Point& at, std::span<double> dx) const override {
    part_.equations.real({at.t, at.x.data(), at.u.data(), dx.data(), y_.data()});
  }
  void outputs(const Point& at, std::span<double> y) const override {
    part_.equations.real({at.t, at.x.data(), at.u.data(), dx_.data(), y.data()});
  }
  void output_rates(const Point& at, std::span<double> dy) const override {
    derivatives(at, dx_);
    seed(at, 1.0);
    for (std::size_t i = 0; i < x_seed_.size(); ++i) x_seed_[i].imag(kStep * dx_[i]);
    for (std::size_t i = 0; i < u_seed_.size(); ++i) u_seed_[i].imag(i < at.du.size() ? kStep * at.du[i] : 0.0);
    evaluate_seed();
    for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = y_seed_[i].imag() / kStep;
  }
  void linearize(const Point& at, Linearization& result) const override {
    const std::size_t n = x_seed_.size();
    const std::size_t m = u_seed_.size();
    result.A.resize(n, n);
    result.B.resize(n, m);
    result.C.resize(y_seed_.size(), n);
    result.D.resize(y_seed_.size(), m);
    seed(at, 0.0);
    for (std::size_t j = 0; j < n + m; ++j) {
      auto& direction = j < n ? x_seed_[j] : u_seed_[j - n];
      direction.imag(kStep);
      evaluate_seed();
      direction.imag(0.0);
      Matrix& of_rates = j < n ? result.A : result.B;
      Matrix& of_outputs = j < n ? result.C : result.D;
      const std::size_t column = j < n ? j : j - n;
      for (std::size_t i = 0; i < n; ++i) of_rates(i, column) = dx_seed_[i].imag() / kStep;
      for (std::size_t i = 0; i < y_seed_.size(); ++i) of_outputs(i, column) = y_seed_[i].imag() / kStep;
    }
  }
  void integrate(Time from, Duration size, const InputBlock& inputs, std::span<double> x) override {
    inputs_ = &inputs;
    from_ = from;
    for (int round = 0; round < 10 && flow_.handle(from, x.data()); ++round) {  // the inputs may have jumped
    }
    extrapolation_.advance(from, from + size, x.data());
  }

  Time next_discontinuity(Time t) const override {
    if (!part_.announced) return kNever;
    const auto next = std::upper_bound(part_.times.begin(), part_.times.end(), t);
    return next == part_.times.end() ? kNever : *next;
  }
  std::size_t event_indicator_count() const override { return part_.events.indicators; }
  void event_indicators(const Point& at, std::span<double> z) const override {
    if (!z.empty()) part_.events.indicate(at.t, at.x.data(), at.u.data(), z.data());
  }
  bool handle_event(const Point& at, std::span<double> x) override {
    return part_.events.handle && part_.events.handle(at.t, x.data(), at.u.data());
  }

 private:
  static constexpr double kStep = 1e-30;  ///< of complex differences, which lose no digits

  const double* inputs_at(double t) {
    for (std::size_t i = 0; i < u_.size(); ++i) u_[i] = inputs_->value(i, t - from_);
    return u_.data();
  }
  void seed(const Point& at, double with_time) const {
    t_seed_ = {at.t, with_time * kStep};
    for (std::size_t i = 0; i < x_seed_.size(); ++i) x_seed_[i] = at.x[i];
    for (std::size_t i = 0; i < u_seed_.size(); ++i) u_seed_[i] = at.u[i];
  }
  void evaluate_seed() const {
    part_.equations.complex({t_seed_, x_seed_.data(), u_seed_.data(), dx_seed_.data(), y_seed_.data()});
  }

  const Part& part_;
  VariableTable variables_;
  Flow flow_;
  Extrapolation extrapolation_{flow_};
  const InputBlock* inputs_ = nullptr;
  double from_ = 0.0;
  mutable std::vector<double> dx_, y_;
  std::vector<double> u_;
  mutable std::complex<double> t_seed_;
  mutable std::vector<std::complex<double>> x_seed_, u_seed_, dx_seed_, y_seed_;
};

/// A part as tools of others export it: it only steps, under held inputs, with an integrator of its own.
class BlackBox final : public Subsystem {
 public:
  BlackBox(const Part& part, std::string_view name)
      : part_(part),
        name_(name),
        variables_(variables_of(part)),
        x_(part.start),
        dx_(part.start.size()),
        y_(part.outputs.size()),
        cvode_(std::max<std::size_t>(part.start.size(), 1), {.method = numerics::OdeMethod::Bdf,
                                                             .relative_tolerance = tolerance(),
                                                             .absolute_tolerance = tolerance()}) {
    capabilities_.feedthrough = feedthrough_of(part);
  }
  std::string_view name() const noexcept override { return name_; }
  const VariableTable& variables() const noexcept override { return variables_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Facets facets() noexcept override { return {}; }
  void set_start(VariableTable::Place, const Value&) override {}
  void initialize(Time start, Time) override { reached_ = start; }
  void evaluate(std::span<const double> inputs, std::span<double> outputs) override {
    part_.equations.real({reached_, x_.data(), inputs.data(), dx_.data(), outputs.data()});
  }
  StepReport step(const Step& step, std::span<double> outputs) override {
    const auto inputs = step.inputs.order(0);
    const double to = step.from + step.size;
    if (part_.inside == Inside::Cvode) {
      cvode_.integrate(0.0, step.size, x_, [&](double s, std::span<const double> x, std::span<double> dx) {
        part_.equations.real({step.from + s, x.data(), inputs.data(), dx.data(), y_.data()});
      });
      reached_ = to;
    } else if (part_.inside == Inside::Euler) {
      while (to - reached_ > 1e-9 * part_.inner) euler(std::min(part_.inner, to - reached_), inputs);
      reached_ = to;
    } else {
      while (to - static_cast<double>(ticks_ + 1) * part_.inner > -1e-9 * part_.inner) {
        euler(part_.inner, inputs);
        ++ticks_;
        reached_ = static_cast<double>(ticks_) * part_.inner;
      }
    }
    evaluate(inputs, outputs);
    return {to};
  }

 private:
  double tolerance() const { return part_.inside == Inside::Cvode ? part_.inner : 1e-10; }
  void euler(double size, std::span<const double> inputs) {
    part_.equations.real({reached_, x_.data(), inputs.data(), dx_.data(), y_.data()});
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] += size * dx_[i];
    reached_ += size;
  }

  const Part& part_;
  std::string name_;
  VariableTable variables_;
  Capabilities capabilities_;
  std::vector<double> x_, dx_, y_;
  numerics::OdeSolver cvode_;
  double reached_ = 0.0;
  long ticks_ = 0;
};

const Part* part_of(const System& system, std::string_view kind) {
  for (const auto& part : system.parts) {
    if (kind.substr(0, kPrefix.size()) == kPrefix && kind.substr(kPrefix.size()) == part.name) return &part;
  }
  return nullptr;
}

SubsystemDescription description_of(const Part& part) {
  SubsystemDescription description;
  description.name = part.name;
  if (!part.fmu.empty()) {
    description.fmu = std::string(ENTRAIN_FMUS "/") + part.fmu;
  } else {
    description.model = part.model.empty() ? std::string(kPrefix) + part.name : part.model;
  }
  for (const auto& [name, value] : part.values) description.start[name] = {value, {}};
  if (part.once) description.side_effects = {true, {}};
  if (part.exchange) description.interface = {FmuInterface::ModelExchange, {}};
  if (part.imposed > 0.0) description.step = {part.imposed, {}};
  if (part.forward) description.rollback = {false, {}};
  if (part.bare) {
    description.rollback = {false, {}};
    description.states = {false, {}};
    description.linearization = {false, {}};
    description.input_degree = {0, {}};
    description.output_derivative_order = {0, {}};
  }
  return description;
}

}  // namespace

SystemDescription description_of(const System& system) {
  SystemDescription description;
  description.name = system.name;
  description.stop = {system.stop, {}};
  for (const auto& part : system.parts) description.subsystems.push_back(description_of(part));
  for (const auto& link : system.links) {
    ConnectionDescription connection;
    const Part& from = system.parts[link.from];
    const Part& to = system.parts[link.to];
    connection.output = from.name + "." + from.outputs[link.output].name;
    connection.input = to.name + "." + to.inputs[link.input].name;
    if (!link.by_units) {
      connection.factor = link.factor;
      connection.offset = link.offset;
      connection.convert_units = false;
    }
    description.connections.push_back(connection);
  }
  return description;
}

Extensions extensions_of(const System& system) {
  Extensions extensions;
  extensions.models = [&system](std::string_view kind) -> std::unique_ptr<Model> {
    const Part* part = part_of(system, kind);
    return part == nullptr ? nullptr : std::make_unique<PartModel>(*part);
  };
  extensions.subsystems = [&system](std::string_view kind, std::string_view name) -> std::unique_ptr<Subsystem> {
    const Part* part = part_of(system, kind);
    if (part == nullptr || part->inside == Inside::Accurate) return nullptr;
    return std::make_unique<BlackBox>(*part, name);
  };
  return extensions;
}

}  // namespace entrain::truth
