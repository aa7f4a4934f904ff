#include "learn/learning_loop.hpp"

#include <algorithm>
#include <numeric>

#include "learn/linear_row.hpp"

namespace entrain::learning {
namespace {

constexpr std::size_t kCyclesAhead = 2;  // a late output on the line to its next value: two steps of its subsystem

/// One cycle, carried out once for all starts and all corrections. Rows: of the states and sent outputs at its start
/// and the corrections in it.
class Cycle {
 public:
  Cycle(const Graph& graph, std::span<const StepMatrices> steps, std::span<const LearnedWire> wires,
        std::span<const double> scales)
      : graph_(graph), steps_(steps), wires_(wires), scales_(scales), length_(cycle_of(steps)) {
    for (const auto& step : steps) {
      first_state_.push_back(states_);
      states_ += step.A.rows;
    }
    known_ = states_ + graph.outputs();
    width_ = known_ + corrections_in_cycle(wires, length_);
    for (std::size_t i = 0; i < known_; ++i) (i < states_ ? x_ : sent_).push_back(unit(i));
  }

  numerics::LearningLoop loop() {
    lay_out_corrections();
    for (std::size_t q = 0; q < length_; ++q) macro_step(q);
    numerics::LearningLoop result;
    result.A = Matrix(known_, known_);
    result.B = Matrix(known_, width_ - known_);
    for (std::size_t i = 0; i < known_; ++i) split(i < states_ ? x_[i] : sent_[i - states_], i, result.A, result.B);
    result.C.assign(kCyclesAhead + 1, Matrix(width_ - known_, known_));
    result.D.assign(kCyclesAhead + 1, Matrix(width_ - known_, width_ - known_));
    add_errors(result);
    return result;
  }

 private:
  struct Correction {
    std::size_t wire;
    std::size_t macro_step;
  };

  Row unit(std::size_t place) const {
    Row row(width_, 0.0);
    row[place] = 1.0;
    return row;
  }

  void lay_out_corrections() {
    for (std::size_t q = 0; q < length_; ++q) {
      for (std::size_t w = 0; w < wires_.size(); ++w) {
        if (q % wires_[w].consumer_span == 0) corrections_.push_back({w, q});
      }
    }
  }

  /// What the inputs receive in macro step q.
  std::vector<Row> inputs_at(std::size_t q) const {
    std::vector<Row> inputs(graph_.inputs(), Row(width_, 0.0));
    for (const auto& connection : graph_.connections()) {
      add(inputs[connection.input], connection.factor, sent_[connection.output]);
    }
    for (std::size_t i = 0; i < corrections_.size(); ++i) {
      if (corrections_[i].macro_step != q) continue;
      inputs[wires_[corrections_[i].wire].connection.input][known_ + i] += scales_[corrections_[i].wire];
    }
    return inputs;
  }

  void macro_step(std::size_t q) {
    sent_at_.push_back(sent_);
    const auto inputs = inputs_at(q);
    if (q == 0) start_x_ = x_, start_u_ = inputs;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (q % steps_[s].span == 0) begin_step(s, inputs);
    }
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if ((q + 1) % steps_[s].span == 0) end_step(s);
    }
  }

  void begin_step(std::size_t s, const std::vector<Row>& inputs) {
    for (std::size_t i = 0; i < steps_[s].A.rows; ++i) start_x_[first_state_[s] + i] = x_[first_state_[s] + i];
    const auto own = graph_.inputs_of(SubsystemId{s});
    for (std::size_t i = 0; i < own.count; ++i) start_u_[own.first + i] = inputs[own.first + i];
  }

  void end_step(std::size_t s) {
    const StepMatrices& step = steps_[s];
    const auto inputs = graph_.inputs_of(SubsystemId{s});
    const auto outputs = graph_.outputs_of(SubsystemId{s});
    const auto combined = [&](const Matrix& by_state, const Matrix& by_input, std::size_t row,
                              const std::vector<Row>& x) {
      Row result(width_, 0.0);
      for (std::size_t j = 0; j < by_state.cols; ++j) add(result, by_state(row, j), x[first_state_[s] + j]);
      for (std::size_t j = 0; j < by_input.cols; ++j) add(result, by_input(row, j), start_u_[inputs.first + j]);
      return result;
    };
    for (std::size_t i = 0; i < step.A.rows; ++i) x_[first_state_[s] + i] = combined(step.A, step.B, i, start_x_);
    for (std::size_t o = 0; o < outputs.count; ++o) {
      sent_[outputs.first + o] = combined(step.C, step.D, o, step.late[o] ? start_x_ : x_);
    }
  }

  void split(const Row& row, std::size_t place, Matrix& by_state, Matrix& by_correction, double factor = 1.0) const {
    for (std::size_t j = 0; j < known_; ++j) by_state(place, j) += factor * row[j];
    for (std::size_t j = known_; j < width_; ++j) by_correction(place, j - known_) += factor * row[j];
  }

  /// As WireRecord has it: what should have been received, on the straight line between exact values, minus what was.
  void add_errors(numerics::LearningLoop& loop) const {
    for (std::size_t i = 0; i < corrections_.size(); ++i) {
      const auto [w, q] = corrections_[i];
      const LearnedWire& wire = wires_[w];
      const double factor = wire.connection.factor / scales_[w];
      const auto add_sent = [&](std::size_t at, double share) {
        const std::size_t sent_at = wire.late ? at + wire.source_span : at;
        const Row& row = sent_at_[sent_at % length_][wire.connection.output];
        split(row, i, loop.C[sent_at / length_], loop.D[sent_at / length_], share * factor);
      };
      const std::size_t before = q / wire.source_span * wire.source_span;
      const double share = static_cast<double>(q - before) / static_cast<double>(wire.source_span);
      add_sent(before, 1.0 - share);
      if (q > before) add_sent(before + wire.source_span, share);
      split(sent_at_[q][wire.connection.output], i, loop.C[0], loop.D[0], -factor);
      loop.D[0](i, i) -= 1.0;
    }
  }

  const Graph& graph_;
  std::span<const StepMatrices> steps_;
  std::span<const LearnedWire> wires_;
  std::span<const double> scales_;
  std::size_t length_;
  std::size_t states_ = 0;
  std::size_t known_ = 0;  // states and sent outputs
  std::size_t width_ = 0;  // of a row
  std::vector<std::size_t> first_state_;
  std::vector<Correction> corrections_;
  std::vector<Row> x_, sent_;              // now
  std::vector<Row> start_x_, start_u_;     // where each subsystem began its step
  std::vector<std::vector<Row>> sent_at_;  // by macro step of the cycle
};

}  // namespace

std::size_t cycle_of(std::span<const StepMatrices> steps) {
  std::size_t cycle = 1;
  for (const auto& step : steps) cycle = std::lcm(cycle, step.span);
  return cycle;
}

std::size_t corrections_in_cycle(std::span<const LearnedWire> wires, std::size_t cycle) {
  std::size_t count = 0;
  for (const auto& wire : wires) count += cycle / wire.consumer_span;
  return count;
}

numerics::LearningLoop learning_loop(const Graph& graph, std::span<const StepMatrices> steps,
                                     std::span<const LearnedWire> wires, std::span<const double> scales) {
  return Cycle(graph, steps, wires, scales).loop();
}

}  // namespace entrain::learning
