#include "learn/waveform_loop.hpp"

#include <algorithm>
#include <array>

#include "learn/linear_row.hpp"
#include "numerics/dense_lu.hpp"
#include "numerics/exponential.hpp"

namespace entrain::learning {
namespace {

/// Known at a communication time: states, outputs, and the inputs as they ended, with their slopes times the step.
/// Rows: of what is known at the start of a macro step, and its corrections.
class WaveformStep {
 public:
  WaveformStep(const Graph& graph, std::span<const Linearization> subsystems, Duration step,
               std::span<const LearnedWire> wires, std::span<const int> degrees, std::span<const double> scales)
      : graph_(graph), subsystems_(subsystems), step_(step), wires_(wires), degrees_(degrees), scales_(scales) {
    for (const auto& subsystem : subsystems) {
      first_state_.push_back(states_);
      states_ += subsystem.A.rows;
    }
    known_ = states_ + graph.outputs() + 2 * graph.inputs();
    for (const int degree : degrees) {
      first_correction_.push_back(corrections_);
      corrections_ += static_cast<std::size_t>(degree) + 1;
    }
    width_ = known_ + corrections_;
  }

  numerics::LearningLoop loop() {
    make_inputs();
    numerics::LearningLoop result;
    result.A = Matrix(known_, known_);
    result.B = Matrix(known_, corrections_);
    move(result);
    result.C.assign(2, Matrix(corrections_, known_));
    result.D.assign(2, Matrix(corrections_, corrections_));
    add_errors(result);
    return result;
  }

 private:
  static constexpr std::size_t kOrders = 4;

  Row unit(std::size_t place) const {
    Row row(width_, 0.0);
    row[place] = 1.0;
    return row;
  }
  Row zero() const { return Row(width_, 0.0); }
  Row state(std::size_t s, std::size_t i) const { return unit(first_state_[s] + i); }
  Row output(std::size_t y) const { return unit(states_ + y); }
  Row ended(std::size_t u) const { return unit(states_ + graph_.outputs() + u); }
  Row ended_slope(std::size_t u) const { return unit(states_ + graph_.outputs() + graph_.inputs() + u); }

  /// By powers of the share of the step.
  void make_inputs() {
    inputs_.assign(graph_.inputs(), {zero(), zero(), zero(), zero()});
    for (const auto& connection : graph_.connections()) {
      add(inputs_[connection.input][0], connection.factor, output(connection.output));
    }
    for (std::size_t w = 0; w < wires_.size(); ++w) {
      for (std::size_t p = 0; p <= static_cast<std::size_t>(degrees_[w]); ++p) {
        inputs_[wires_[w].connection.input][p][known_ + first_correction_[w] + p] += scales_[w];
      }
    }
  }

  void move(numerics::LearningLoop& loop) {
    std::size_t place = 0;
    const auto write = [&](const Row& row) {
      for (std::size_t j = 0; j < known_; ++j) loop.A(place, j) = row[j];
      for (std::size_t j = 0; j < corrections_; ++j) loop.B(place, j) = row[known_ + j];
      ++place;
    };
    std::vector<Row> x, end(graph_.inputs(), zero()), slope(graph_.inputs(), zero());
    for (std::size_t u = 0; u < graph_.inputs(); ++u) {
      for (std::size_t p = 0; p < kOrders; ++p) {
        add(end[u], 1.0, inputs_[u][p]);
        add(slope[u], static_cast<double>(p), inputs_[u][p]);
      }
    }
    for (std::size_t s = 0; s < subsystems_.size(); ++s) {
      const auto& of = subsystems_[s];
      const auto blocks = numerics::exact_step_matrices(of.A, of.B, step_, static_cast<int>(kOrders) - 1);
      for (std::size_t i = 0; i < of.A.rows; ++i) {
        Row next = zero();
        for (std::size_t j = 0; j < of.A.rows; ++j) add(next, blocks.exponential(i, j), state(s, j));
        for (std::size_t u = 0; u < of.B.cols; ++u) {
          double power = 1.0;
          for (std::size_t p = 0; p < kOrders; ++p, power *= step_) {
            add(next, blocks.gamma[p](i, u) / power, inputs_[graph_.inputs_of(SubsystemId{s}).first + u][p]);
          }
        }
        x.push_back(std::move(next));
      }
    }
    for (const auto& row : x) write(row);
    for (std::size_t s = 0; s < subsystems_.size(); ++s) {
      const auto& of = subsystems_[s];
      const std::size_t first = graph_.inputs_of(SubsystemId{s}).first;
      for (std::size_t y = 0; y < graph_.outputs_of(SubsystemId{s}).count; ++y) {
        Row next = zero();
        for (std::size_t j = 0; j < of.C.cols; ++j) add(next, of.C(y, j), x[first_state_[s] + j]);
        for (std::size_t u = 0; u < of.D.cols; ++u) add(next, of.D(y, u), end[first + u]);
        write(next);
      }
    }
    for (const auto& row : end) write(row);
    for (const auto& row : slope) write(row);
  }

  /// Outputs with their algebraic part corrected, and the slopes of the outputs times the step, at the start of the
  /// step: from what is known then, and so a step later.
  void find_outputs() {
    const std::size_t count = graph_.outputs();
    Matrix matrix(count, count);
    std::vector<Row> right;
    for (std::size_t s = 0; s < subsystems_.size(); ++s) {
      const auto& of = subsystems_[s];
      const auto outputs = graph_.outputs_of(SubsystemId{s});
      const std::size_t first = graph_.inputs_of(SubsystemId{s}).first;
      for (std::size_t y = 0; y < outputs.count; ++y) {
        Row row = output(outputs.first + y);
        Row slope = zero();
        matrix(outputs.first + y, outputs.first + y) += 1.0;
        for (std::size_t u = 0; u < of.D.cols; ++u) {
          add(slope, of.D(y, u), ended_slope(first + u));
          const Connection* source = graph_.source(InputId{first + u});
          if (source == nullptr) continue;
          add(row, -of.D(y, u), ended(first + u));
          matrix(outputs.first + y, source->output) -= of.D(y, u) * source->factor;
        }
        for (std::size_t j = 0; j < of.C.cols; ++j) {
          for (std::size_t i = 0; i < of.A.cols; ++i) add(slope, step_ * of.C(y, j) * of.A(j, i), state(s, i));
          for (std::size_t u = 0; u < of.B.cols; ++u) add(slope, step_ * of.C(y, j) * of.B(j, u), ended(first + u));
        }
        right.push_back(std::move(row));
        slopes_.push_back(std::move(slope));
      }
    }
    const numerics::DenseLu lu(matrix);
    found_.assign(count, zero());
    std::vector<double> column(count);
    for (std::size_t j = 0; j < width_; ++j) {
      for (std::size_t y = 0; y < count; ++y) column[y] = right[y][j];
      lu.solve(column);
      for (std::size_t y = 0; y < count; ++y) found_[y][j] = column[y];
    }
  }

  void add_errors(numerics::LearningLoop& loop) {
    find_outputs();
    for (std::size_t w = 0; w < wires_.size(); ++w) {
      const Connection& connection = wires_[w].connection;
      const Row& value = found_[connection.output];
      const Row& slope = slopes_[connection.output];
      const double factor = connection.factor / scales_[w];
      for (std::size_t p = 0; p <= static_cast<std::size_t>(degrees_[w]); ++p) {
        const std::size_t place = first_correction_[w] + p;
        const auto take = [&](std::size_t later, double share, const Row& row) {
          for (std::size_t j = 0; j < known_; ++j) loop.C[later](place, j) += share * row[j];
          for (std::size_t j = 0; j < corrections_; ++j) loop.D[later](place, j) += share * row[known_ + j];
        };
        const auto [left, left_slope, right, right_slope] = weights(degrees_[w], p);
        take(0, factor * left, value);
        take(0, factor * left_slope, slope);
        take(1, factor * right, value);
        take(1, factor * right_slope, slope);
        take(0, -1.0 / scales_[w], inputs_[connection.input][p]);
        if (p != 0) continue;
        take(0, -factor, value);
        take(0, factor, output(connection.output));
      }
    }
  }

  /// Of both outputs and both slopes in coefficient p of the interpolation.
  static std::array<double, 4> weights(int degree, std::size_t p) {
    if (degree == 0) return {0.5, 0.0, 0.5, 0.0};
    if (degree == 1) return p == 0 ? std::array{1.0, 0.0, 0.0, 0.0} : std::array{-1.0, 0.0, 1.0, 0.0};
    constexpr std::array<std::array<double, 4>, 4> kCubic{
        {{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {-3.0, -2.0, 3.0, -1.0}, {2.0, 1.0, -2.0, 1.0}}};
    return kCubic[p];
  }

  const Graph& graph_;
  std::span<const Linearization> subsystems_;
  Duration step_;
  std::span<const LearnedWire> wires_;
  std::span<const int> degrees_;
  std::span<const double> scales_;
  std::size_t states_ = 0, known_ = 0, corrections_ = 0, width_ = 0;
  std::vector<std::size_t> first_state_, first_correction_;
  std::vector<std::array<Row, kOrders>> inputs_;
  std::vector<Row> found_, slopes_;
};

}  // namespace

numerics::LearningLoop waveform_loop(const Graph& graph, std::span<const Linearization> subsystems, Duration step,
                                     std::span<const LearnedWire> wires, std::span<const int> degrees,
                                     std::span<const double> scales) {
  return WaveformStep(graph, subsystems, step, wires, degrees, scales).loop();
}

}  // namespace entrain::learning
