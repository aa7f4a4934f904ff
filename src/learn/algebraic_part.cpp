#include "learn/algebraic_part.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numerics/eigenvalues.hpp"

namespace entrain::learning {
namespace {

constexpr double kMove = 1e-4;  // of an input, in units of 1 + its size

}  // namespace

AlgebraicPart::AlgebraicPart(const Graph& graph, std::vector<OutputId> followers)
    : graph_(graph), followers_(std::move(followers)), place_(graph.outputs(), kNone) {
  for (std::size_t f = 0; f < followers_.size(); ++f) {
    place_[followers_[f]] = f;
    for (const InputId input : graph.inputs_of(graph.owner(followers_[f]))) {
      const Connection* source = graph.source(input);
      if (source != nullptr && graph.feedthrough(followers_[f], input)) entries_.push_back({f, input, *source});
    }
  }
  numbers_.assign(entries_.size(), 0.0);
}

void AlgebraicPart::look_at_start(CoupledSystem& system) {
  linear_.clear();
  for (const OutputId output : followers_) {
    const SubsystemId owner = graph_.owner(output);
    const bool known = std::find(linear_.begin(), linear_.end(), owner) != linear_.end();
    if (system.capabilities(owner).linearization && !known) linear_.push_back(owner);
  }
  matrices_.resize(linear_.size());
  const std::vector<double> start(system.inputs().begin(), system.inputs().end());
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const OutputId output = followers_[entries_[e].follower];
    const SubsystemId owner = graph_.owner(output);
    if (system.capabilities(owner).linearization) continue;
    const double move = kMove * (1.0 + std::abs(start[entries_[e].input]));
    double values[2];
    for (const int side : {0, 1}) {
      auto inputs = start;
      inputs[entries_[e].input] += side == 0 ? -move : move;
      std::vector<double> outputs(graph_.outputs(), 0.0);
      system.evaluate_all(std::span(&owner, 1), inputs, outputs);
      values[side] = outputs[output];
    }
    numbers_[e] = (values[1] - values[0]) / (2.0 * move);
    std::vector<double> outputs(graph_.outputs(), 0.0);
    system.evaluate_all(std::span(&owner, 1), start, outputs);  // back to where it was
  }
  read(system);
}

void AlgebraicPart::read(CoupledSystem& system) {
  if (linear_.empty()) return;
  system.linearize_all(linear_, matrices_);
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const OutputId output = followers_[entries_[e].follower];
    const SubsystemId owner = graph_.owner(output);
    const auto found = std::find(linear_.begin(), linear_.end(), owner);
    if (found == linear_.end()) continue;
    const Matrix& D = matrices_[static_cast<std::size_t>(found - linear_.begin())].D;
    numbers_[e] = D(output - graph_.outputs_of(owner).first, entries_[e].input - graph_.inputs_of(owner).first);
  }
}

void AlgebraicPart::use(std::span<const double> numbers) {
  numbers_.assign(numbers.begin(), numbers.end());
}

void AlgebraicPart::hold(OutputId output) {
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    if (followers_[entries_[e].follower] == output) numbers_[e] = 0.0;
  }
}

Matrix AlgebraicPart::loop() const {
  Matrix gains(followers_.size(), followers_.size());
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const std::size_t column = place_[entries_[e].source.output];
    if (column != kNone) gains(entries_[e].follower, column) += numbers_[e] * entries_[e].source.factor;
  }
  return gains;
}

void AlgebraicPart::correct(std::span<const double> u, std::span<double> y) {
  if (followers_.empty()) return;
  if (!lu_ || factored_ != numbers_) {
    Matrix matrix = loop();
    for (double& value : matrix.values) value = -value;
    for (std::size_t f = 0; f < followers_.size(); ++f) matrix(f, f) += 1.0;
    lu_.emplace(matrix);
    factored_ = numbers_;
  }
  right_.clear();
  for (const OutputId output : followers_) right_.push_back(y[output]);
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const Connection& source = entries_[e].source;
    double known = source.offset - u[entries_[e].input];
    if (place_[source.output] == kNone) known += source.factor * y[source.output];
    right_[entries_[e].follower] += numbers_[e] * known;
  }
  lu_->solve(right_);
  for (std::size_t f = 0; f < followers_.size(); ++f) y[followers_[f]] = right_[f];
}

double AlgebraicPart::radius() const {
  return followers_.empty() ? 0.0 : numerics::spectral_radius(loop());
}

}  // namespace entrain::learning
