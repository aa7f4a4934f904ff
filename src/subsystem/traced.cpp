#include "subsystem/traced.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

#include "base/csv.hpp"
#include "subsystem/ends_initialization.hpp"
#include "subsystem/foreign_calls.hpp"

namespace entrain::subsystem {
namespace {

using Clock = std::chrono::steady_clock;

// Of a step: ends and beginnings that are nearer than this are the same time.
constexpr double kTimeRounding = 1e-6;

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

class Traced final : public Subsystem, public ForeignCalls, public EndsInitialization, private SplitStep {
 public:
  Traced(std::unique_ptr<Subsystem> inner, TracedCalls& log) : inner_(std::move(inner)), log_(log) {}

  std::string_view name() const noexcept override { return inner_->name(); }
  const VariableTable& variables() const noexcept override { return inner_->variables(); }
  const Capabilities& capabilities() const override { return inner_->capabilities(); }
  Facets facets() noexcept override {
    Facets facets = inner_->facets();
    if (facets.split != nullptr) facets.split = this;
    return facets;
  }
  std::vector<Fact> warnings() const override { return inner_->warnings(); }
  void set_start(VariableTable::Place place, const Value& value) override { inner_->set_start(place, value); }
  void initialize(Time start, Time stop) override { inner_->initialize(start, stop); }
  void evaluate(std::span<const double> inputs, std::span<double> outputs) override {
    inner_->evaluate(inputs, outputs);
  }
  StepReport step(const Step& step, std::span<double> outputs) override {
    const auto begun = Clock::now();
    const StepReport report = inner_->step(step, outputs);
    log_.add(step, report, seconds_since(begun));
    return report;
  }

  std::string refusal() const override { return refusal_of(*inner_); }
  std::string reading(std::size_t output) const override { return reading_of(*inner_, output); }
  void finish_initialization(std::span<double> outputs) override { finish_initialization_of(*inner_, outputs); }
  void note_used_before() override { note_used_before_of(*inner_); }

 private:
  void post(const Step& step, const StepReadings& readings) override {
    posted_ = step;
    begun_ = Clock::now();
    inner_->facets().split->post(step, readings);
  }
  StepReport wait(std::span<double> outputs) override {
    const StepReport report = inner_->facets().split->wait(outputs);
    log_.add(*posted_, report, seconds_since(begun_));
    return report;
  }

  std::unique_ptr<Subsystem> inner_;
  TracedCalls& log_;
  std::optional<Step> posted_;
  Clock::time_point begun_;
};

std::string_view word_of(TracedCalls::Kind kind) {
  switch (kind) {
    case TracedCalls::Kind::Step: return "step";
    case TracedCalls::Kind::Trial: return "trial";
    case TracedCalls::Kind::Rejected: return "rejected";
  }
  return "";
}

}  // namespace

void TracedCalls::add(const Subsystem::Step& step, const StepReport& report, double seconds) {
  const double rounding = kTimeRounding * step.size;
  for (auto call = calls_.rbegin(); call != calls_.rend() && call->to > step.from + rounding; ++call) {
    if (call->kind == Kind::Step) call->kind = Kind::Trial;
  }
  if (step.from >= furthest_ - rounding && furthest_ != -kNever) ++steps_;
  furthest_ = std::max(furthest_, step.from + step.size);
  if (!is_kept(steps_)) return;
  if (calls_.size() >= most_) {
    thin();
    if (calls_.size() >= most_ || !is_kept(steps_)) return;  // the trials of one step alone fill it
  }
  inputs_ = step.inputs.count();
  const bool rejected = report.outcome == StepOutcome::Rejected;
  calls_.push_back({rejected ? Kind::Rejected : Kind::Step, step.from,
                    rejected ? step.from + step.size : report.reached, step.inputs.degree(), seconds,
                    coefficients_.size(), steps_});
  for (int p = 0; p <= step.inputs.degree(); ++p) {
    const auto order = step.inputs.order(p);
    coefficients_.insert(coefficients_.end(), order.begin(), order.end());
  }
}

void TracedCalls::thin() {
  stride_ *= 2;
  std::vector<double> coefficients;
  std::erase_if(calls_, [&](Call& call) {
    if (!is_kept(call.step)) return true;
    const auto first = coefficients_.begin() + static_cast<std::ptrdiff_t>(call.coefficient);
    const auto size = static_cast<std::ptrdiff_t>((static_cast<std::size_t>(call.degree) + 1) * inputs_);
    call.coefficient = coefficients.size();
    coefficients.insert(coefficients.end(), first, first + size);
    return false;
  });
  coefficients_ = std::move(coefficients);
}

std::unique_ptr<Subsystem> traced(std::unique_ptr<Subsystem> inner, TracedCalls& log) {
  return std::make_unique<Traced>(std::move(inner), log);
}

std::string calls_csv(const std::vector<const Subsystem*>& subsystems, const std::vector<TracedCalls>& logs) {
  std::string text = "subsystem,kind,from,to,seconds,one_in,takes,input";
  for (int p = 0; p <= kMaxInputDegree; ++p) text += fmt::format(",c{}", p);
  text += '\n';
  for (std::size_t s = 0; s < subsystems.size(); ++s) {
    const auto& inputs = subsystems[s]->variables().inputs;
    const auto name = base::csv_cell(subsystems[s]->name());
    const int takes = subsystems[s]->capabilities().input_degree;
    for (const auto& call : logs[s].calls()) {
      const auto head = fmt::format("{},{},{},{},{:.3g},{},{}", name, word_of(call.kind), call.from, call.to,
                                    call.seconds, logs[s].stride(), takes);
      if (inputs.empty()) text += head + "," + std::string(kMaxInputDegree + 1, ',') + "\n";
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        text += head + "," + base::csv_cell(inputs[i].name);
        for (int p = 0; p <= kMaxInputDegree; ++p) {
          text += ',';
          if (p <= call.degree) fmt::format_to(std::back_inserter(text), "{}", logs[s].coefficient(call, p, i));
        }
        text += '\n';
      }
    }
  }
  return text;
}

}  // namespace entrain::subsystem
