// A coupling method and a simulator from outside this repository, registered with the installed library.
#include <cmath>
#include <entrain/entrain.hpp>
#include <entrain/method.hpp>
#include <iostream>

namespace {

using namespace entrain;

/// dx/dt = a x + b u, y = x, for constant inputs: a black box that only steps.
class BlackBox : public Subsystem {
 public:
  BlackBox(std::string_view name, double a, double b, double start) : name_(name), a_(a), b_(b), x_(start) {
    variables_.inputs.push_back({"u", "", "", ValueType::Real, 0.0});
    variables_.outputs.push_back({"y", "", "", ValueType::Real, std::nullopt});
    capabilities_.feedthrough = Feedthrough(1, 1);
  }
  std::string_view name() const noexcept override { return name_; }
  const VariableTable& variables() const noexcept override { return variables_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Facets facets() noexcept override { return {}; }
  void set_start(VariableTable::Place, const Value&) override {}
  void initialize(Time, Time) override {}
  void evaluate(std::span<const double>, std::span<double> outputs) override { outputs[0] = x_; }
  StepReport step(const Step& step, std::span<double> outputs) override {
    const double growth = std::exp(a_ * step.size);
    x_ = growth * x_ + (growth - 1.0) / a_ * b_ * step.inputs.order(0)[0];
    outputs[0] = x_;
    return {step.from + step.size};
  }

 private:
  std::string name_;
  double a_, b_, x_;
  VariableTable variables_;
  Capabilities capabilities_;
};

/// Held inputs, but those of the middle of the step: y + (y - y before) / 2. Of order 2, for subsystems that take
/// constants.
class Midpoint : public Method {
 public:
  const MethodTraits& traits() const override {
    static const MethodTraits kTraits{
        .name = "midpoint", .summary = "explicit; inputs extrapolated to the middle of the step", .order = 2};
    return kTraits;
  }
  void start(CoupledSystem& system, const RunSettings& settings) override {
    settings_ = settings;
    steps_ = 0;
    before_.assign(system.inputs().begin(), system.inputs().end());
  }
  MacroStepReport advance(CoupledSystem& system) override {
    const Graph& graph = system.graph();
    const Time from = settings_.start + static_cast<double>(steps_) * settings_.step;
    const Time next = settings_.start + static_cast<double>(steps_ + 1) * settings_.step;
    const Time to = next > settings_.stop - 1e-9 * settings_.step ? settings_.stop : next;
    for (std::size_t s = 0; s < system.size(); ++s) {
      const auto inputs = graph.inputs_of(SubsystemId{s});
      for (const InputId input : inputs) {
        const double now = system.incoming(input);
        const double before = steps_ == 0 ? now : before_[input];
        system.coefficients(SubsystemId{s}, 0, 0)[input - inputs.first] = now + (now - before) / 2.0;
        before_[input] = now;
      }
    }
    system.commit_everyone({from, to - from, to});
    ++steps_;
    return {to};
  }
  std::vector<Fact> notes(const CoupledSystem&) const override {
    return {custom_note("inputs are taken from the middle of the step")};
  }
  MethodMemory memory() const override { return {steps_, before_}; }
  void restore(const MethodMemory& memory) override {
    steps_ = memory.step;
    before_ = memory.numbers;
  }

 private:
  RunSettings settings_;
  std::uint64_t steps_ = 0;
  std::vector<double> before_;
};

Extensions extensions() {
  Extensions extensions;
  extensions.add_method<Midpoint>();
  extensions.subsystems = [](std::string_view kind, std::string_view name) -> std::unique_ptr<Subsystem> {
    if (kind == "ours.first") return std::make_unique<BlackBox>(name, -1.0, 1.0, 1.0);
    if (kind == "ours.second") return std::make_unique<BlackBox>(name, -2.0, -3.0, 0.0);
    return nullptr;
  };
  return extensions;
}

SystemDescription two_black_boxes(const std::string& method, double step) {
  SystemDescription system;
  system.name = "two_black_boxes";
  system.method.value = method;
  system.step = {step, {}};
  system.stop = {2.0, {}};
  SubsystemDescription first;
  first.name = "first";
  first.model = "ours.first";
  SubsystemDescription second;
  second.name = "second";
  second.model = "ours.second";
  system.subsystems = {first, second};
  system.connections = {{"first.y", "second.u", {}}, {"second.y", "first.u", {}}};
  return system;
}

/// Of dx/dt = [-1 1; -3 -2] x from (1, 0): a damped oscillation.
double exact_first(double t) {
  const double w = std::sqrt(2.75);
  return std::exp(-1.5 * t) * (std::cos(w * t) + 0.5 / w * std::sin(w * t));
}

double error(const std::string& method, double step) {
  Simulation simulation(two_black_boxes(method, step), {}, extensions());
  const auto& summary = simulation.run();
  if (summary.termination != Termination::Completed) throw Error(ErrorCode::InvalidSystem, summary.message);
  for (const Fact& note : summary.notes) std::cout << name_of(note.code) << ": " << render(note) << '\n';
  return std::abs(simulation.value("first.y") - exact_first(2.0));
}

}  // namespace

int fail(const char* what) {
  std::cout << "failed: " << what << '\n';
  return 1;
}

int main(int, char** arguments) {
  const std::filesystem::path work = arguments[1];
  // The order that its traits claim, against the closed form.
  const double order = std::log2(error("midpoint", 0.02) / error("midpoint", 0.01));
  const double better = error("jacobi", 0.01) / error("midpoint", 0.01);
  std::cout << "order " << order << ", " << better << " times better than held inputs\n";
  if (order < 1.9 || order > 2.1 || better < 10.0) return fail("order");

  bool listed = false;
  for (const auto& method : methods(extensions())) {
    listed = listed || (method.traits.name == "midpoint" && method.traits.order == 2);
  }
  if (!listed) return fail("methods");

  const Advice advice = advise(two_black_boxes("midpoint", 0.02), {}, extensions());
  bool judged = false;
  for (const auto& candidate : advice.candidates) {
    judged = judged || (candidate.method == "midpoint" && candidate.obstacles.empty() && candidate.known_error());
  }
  if (!judged) return fail("advise");

  if (error("auto", 0.01) > error("jacobi", 0.01)) return fail("auto");

  std::vector<std::filesystem::path> runs;
  for (const char* method : {"jacobi", "midpoint"}) {
    runs.push_back(run(two_black_boxes(method, 0.01), {.folder = work / method}, extensions()).folder);
  }
  const Comparison comparison = compare(runs);
  if (comparison.runs[1].method != "midpoint" || comparison.differences.empty()) return fail("compare");
  std::cout << "registered, listed, judged, compared\n";
  return 0;
}
