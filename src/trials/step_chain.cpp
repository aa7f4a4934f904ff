#include "trials/step_chain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "numerics/linear_step.hpp"
#include "numerics/polynomial.hpp"
#include "trials/identified_step.hpp"
#include "trials/surrogate_step.hpp"

namespace entrain::trials {
namespace {

/// What a subsystem makes of an input polynomial: the best fit of the degree that it takes.
InputBlock as_taken(const InputBlock& inputs, Duration size, int input_degree, std::vector<double>& storage) {
  const std::size_t count = inputs.count();
  storage.assign(inputs.order(0).data(),
                 inputs.order(0).data() + count * static_cast<std::size_t>(inputs.degree() + 1));
  if (input_degree >= inputs.degree()) return {storage.data(), count, inputs.degree()};
  numerics::project({storage.data(), count, inputs.degree()}, input_degree, size);
  return {storage.data(), count, input_degree};
}

/// x' = f + A (x - x0) + B (u - u0), y = y0 + C (x - x0) + D (u - u0) from the point where it was linearized.
class LinearizedChain final : public StepChain {
 public:
  LinearizedChain(Facets facets, const Capabilities& can, std::size_t states, std::uint64_t& linearizations)
      : facets_(facets), can_(can), linearizations_(linearizations), rates_(states), x_(states) {}

  void observe(const Here& here) override {
    memory_.held.assign(here.held.begin(), here.held.end());
    memory_.raw.assign(here.raw.begin(), here.raw.end());
    look();
  }

  void begin() override {
    if (!looked_) look();  // after a restore
    std::fill(x_.begin(), x_.end(), 0.0);
  }

  void step(Duration size, const InputBlock& inputs, std::span<double> outputs) override {
    const InputBlock taken = as_taken(inputs, size, can_.input_degree, taken_);
    const std::size_t count = inputs.count() + 1;  // and the rates, as an input that is always 1
    deviations_.assign(count * static_cast<std::size_t>(taken.degree() + 1), 0.0);
    for (int p = 0; p <= taken.degree(); ++p) {
      for (std::size_t j = 0; j < inputs.count(); ++j) {
        deviations_[static_cast<std::size_t>(p) * count + j] = taken.order(p)[j] - (p == 0 ? memory_.held[j] : 0.0);
      }
    }
    deviations_[count - 1] = 1.0;
    linear_.advance(size, InputBlock(deviations_.data(), count, taken.degree()), x_);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      double value = memory_.raw[o];
      for (std::size_t i = 0; i < x_.size(); ++i) value += here_.C(o, i) * x_[i];
      for (std::size_t j = 0; j < inputs.count(); ++j) {
        value += here_.D(o, j) * (inputs.value(j, size) - memory_.held[j]);
      }
      outputs[o] = value;
    }
  }

  double direct_gain(std::size_t output, std::size_t input) const override { return here_.D(output, input); }
  void forget_past() override {}

  base::Bytes memory() const override { return base::to_bytes(memory_); }
  void restore(std::span<const std::byte> bytes) override {
    base::from_bytes(bytes, memory_);
    looked_ = false;
  }

  struct Memory {
    std::vector<double> held, raw;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(held, raw);
    }
  };

 private:
  void look() {
    facets_.linearizer->linearize(here_);
    ++linearizations_;
    facets_.states->derivatives(rates_);
    Matrix wide(here_.B.rows, here_.B.cols + 1);
    for (std::size_t i = 0; i < wide.rows; ++i) {
      for (std::size_t j = 0; j < here_.B.cols; ++j) wide(i, j) = here_.B(i, j);
      wide(i, here_.B.cols) = rates_[i];
    }
    const bool same = here_.A.values == a_.values && wide.values == b_.values;
    if (!same) linear_ = numerics::LinearStep(here_.A, wide);
    a_ = here_.A;
    b_ = std::move(wide);
    looked_ = true;
  }

  Facets facets_;
  const Capabilities& can_;
  std::uint64_t& linearizations_;
  Linearization here_;
  Matrix a_, b_;
  numerics::LinearStep linear_;
  std::vector<double> rates_, x_, taken_, deviations_;
  bool looked_ = false;
  Memory memory_;
};

class IdentifiedChain final : public StepChain {
 public:
  IdentifiedChain(const IdentifiedStep::Ports& ports, int input_degree)
      : step_(ports),
        observed_(step_.position()),
        input_degree_(input_degree),
        continued_(ports.outputs),
        slopes_(ports.outputs) {}

  void observe(const Here& here) override {
    step_.go_to(observed_);
    const bool stepped = step_.at() && here.t > *step_.at();
    if (stepped) continue_past(here.t - *step_.at());
    step_.observe({here.t, here.held, here.raw, here.outputs,
                   stepped ? std::span<const double>(continued_) : std::span<const double>()});
    observed_ = step_.position();
  }
  void begin() override { step_.go_to(observed_); }

  void step(Duration size, const InputBlock& inputs, std::span<double> outputs) override {
    continue_past(size);
    step_.set_step({size, continued_, slopes_});
    step_.estimate(inputs, outputs, slopes_);
    const InputBlock taken = as_taken(inputs, size, input_degree_, taken_);
    held_.resize(inputs.count());
    raw_.assign(outputs.begin(), outputs.end());
    for (std::size_t j = 0; j < inputs.count(); ++j) {
      held_[j] = taken.value(j, size);
      for (std::size_t o = 0; o < outputs.size(); ++o) {
        raw_[o] -= step_.direct_gain(o, j) * (inputs.value(j, size) - held_[j]);
      }
    }
    step_.pass(size, held_, raw_, outputs);
  }

  double direct_gain(std::size_t output, std::size_t input) const override { return step_.direct_gain(output, input); }
  void forget_past() override {
    step_.go_to(observed_);
    step_.forget_past();
    observed_ = step_.position();
  }
  PredictionQuality quality() const override { return step_.quality(); }

  base::Bytes memory() const override {
    IdentifiedStep copy = step_;
    copy.go_to(observed_);
    return copy.memory();
  }
  void restore(std::span<const std::byte> bytes) override {
    step_.restore(bytes);
    observed_ = step_.position();
  }

 private:
  /// The parabola through the latest outputs; less where less is known.
  void continue_past(Duration ahead) {
    const auto& past = step_.position().past;
    const std::size_t count = std::min<std::size_t>(past.count, 3);
    for (std::size_t o = 0; o < continued_.size(); ++o) {
      continued_[o] = 0.0;
      for (std::size_t i = 0; i < count; ++i) {
        double weight = 1.0;
        for (std::size_t j = 0; j < count; ++j) {
          if (j != i) weight *= (past.times[0] + ahead - past.times[j]) / (past.times[i] - past.times[j]);
        }
        continued_[o] += weight * past.outputs[i * continued_.size() + o];
      }
    }
  }

  IdentifiedStep step_;
  IdentifiedStep::Position observed_;
  int input_degree_;
  std::vector<double> continued_, slopes_, taken_, held_, raw_;
};

/// By what a user provides. Where several steps are tried out, it observes the estimated ends as real ones, and is
/// put back for the next try.
class SurrogateChain final : public StepChain {
 public:
  SurrogateChain(std::unique_ptr<StepEstimator> estimator, std::size_t outputs, int input_degree)
      : estimator_(std::move(estimator)), input_degree_(input_degree), slopes_(outputs) {
    memory_.before = estimator_->save();
    memory_.misses = SurrogateMisses(outputs);
  }

  void observe(const Here& here) override {
    memory_.misses.compare(here.raw);
    begin();
    memory_.before = estimator_->save();
    memory_.t = here.t;
    memory_.held.assign(here.held.begin(), here.held.end());
    memory_.raw.assign(here.raw.begin(), here.raw.end());
    begin();
  }

  void begin() override {
    estimator_->restore(memory_.before);
    t_ = memory_.t;
    if (!memory_.raw.empty()) estimator_->observe({memory_.t, memory_.held, memory_.raw});
  }

  void step(Duration size, const InputBlock& inputs, std::span<double> outputs) override {
    const InputBlock taken = as_taken(inputs, size, input_degree_, taken_);
    estimator_->estimate(size, taken, outputs, slopes_);
    held_.resize(inputs.count());
    for (std::size_t j = 0; j < held_.size(); ++j) held_[j] = taken.value(j, size);
    t_ += size;
    estimator_->observe({t_, held_, outputs});
  }

  void expect(Duration size, const InputBlock& inputs) override {
    begin();
    auto& expected = memory_.misses.expected;
    expected.resize(slopes_.size());
    estimator_->estimate(size, as_taken(inputs, size, input_degree_, taken_), expected, slopes_);
  }

  double direct_gain(std::size_t, std::size_t) const override { return 0.0; }
  void forget_past() override {
    begin();
    estimator_->forget_past();
    memory_.before = estimator_->save();
    memory_.held.clear();
    memory_.raw.clear();
    memory_.misses.expected.clear();
  }

  PredictionQuality quality() const override { return memory_.misses.quality(); }

  base::Bytes memory() const override { return base::to_bytes(memory_); }
  void restore(std::span<const std::byte> bytes) override {
    base::from_bytes(bytes, memory_);
    begin();
  }

  struct Memory {
    std::vector<std::byte> before;  ///< what the estimator remembers of real steps, without the point where it is
    Time t = 0.0;
    std::vector<double> held, raw;  ///< the point; empty behind a jump
    SurrogateMisses misses;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(before, t, held, raw, misses);
    }
  };

 private:
  std::unique_ptr<StepEstimator> estimator_;
  int input_degree_;
  std::vector<double> slopes_, taken_, held_;
  Time t_ = 0.0;
  Memory memory_;
};

IdentifiedStep::Ports chain_ports_of(const coupling::Engine& engine, SubsystemId s) {
  const Capabilities& can = engine.subsystem(s).capabilities();
  const Graph& graph = engine.graph();
  return {graph.outputs_of(s).count, graph.inputs_of(s).count, can.feedthrough, can.input_degree, 1};
}

}  // namespace

ChainKind chain_kind(const coupling::Engine& engine, SubsystemId s) {
  using Source = coupling::EstimatorChoice::Source;
  const auto source = engine.estimator(s).source;
  const Capabilities& can = engine.subsystem(s).capabilities();
  if (source == Source::Named) return ChainKind::Named;
  if (can.linearization && can.states && can.state_derivatives && source != Source::Identified) {
    return ChainKind::Linearized;
  }
  const bool possible = source != Source::Continued && IdentifiedStep::is_possible(chain_ports_of(engine, s));
  return possible ? ChainKind::Identified : ChainKind::None;
}

std::unique_ptr<StepChain> make_step_chain(coupling::Engine& engine, SubsystemId s, std::vector<double> start_gains) {
  const Subsystem& subsystem = engine.subsystem(s);
  const Capabilities& can = subsystem.capabilities();
  auto& participant = engine.executor().of(s);
  switch (chain_kind(engine, s)) {
    case ChainKind::None: return nullptr;
    case ChainKind::Named:
      return std::make_unique<SurrogateChain>(engine.estimator(s).make({subsystem.name(), subsystem.variables(), can}),
                                              participant.outputs().size(), can.input_degree);
    case ChainKind::Linearized:
      return std::make_unique<LinearizedChain>(engine.facets(s), can, subsystem.variables().states.size(),
                                               participant.counters.linearizations);
    case ChainKind::Identified: break;
  }
  IdentifiedStep::Ports ports = chain_ports_of(engine, s);
  ports.direct = std::move(start_gains);
  return std::make_unique<IdentifiedChain>(ports, can.input_degree);
}

}  // namespace entrain::trials
