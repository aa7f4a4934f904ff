#include "learn/held_law.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/signal_range.hpp"
#include "learn/update.hpp"

namespace entrain::learning {

HeldLaw::HeldLaw(RepeatedRun& run, const LearnOptions& options, std::vector<LearnedWire> wires)
    : run_(run), options_(options), record_(std::move(wires), run.system().graph().outputs()) {}

LearnIteration HeldLaw::judged() {
  return learning::judged(record_, run_.system().graph());
}

std::vector<LearnedCourse> HeldLaw::courses() const {
  return record_.courses(run_.system().graph());
}

running::CorrectionSchedule HeldLaw::schedule(const std::vector<double>& corrections) const {
  std::vector<InputId> inputs;
  for (const auto& wire : record_.wires()) inputs.push_back(wire.connection.input);
  return {run_.system().graph(), std::move(inputs), corrections};
}

LearningLaw::Repeatability HeldLaw::compared(const std::vector<double>& earlier) const {
  Repeatability result;
  const auto now = record_.sent();
  const std::size_t each = steps() + 1;
  for (std::size_t w = 0; now.size() == earlier.size() && w < record_.wires().size(); ++w) {
    base::SignalRange values = base::SignalRange::of(std::span(now).subspan(w * each, each));
    double largest = 0.0;
    for (std::size_t k = w * each; k < (w + 1) * each; ++k) largest = std::max(largest, std::abs(now[k] - earlier[k]));
    const double relative = largest / base::divisible_size(values.span_or_magnitude());
    if (relative > result.difference || result.worst.empty())
      result = {relative, name_of(record_.wires()[w], run_.system().graph())};
  }
  return result;
}

void HeldLaw::update(std::vector<double>& corrections) {
  update_corrections(corrections, record_, options_, run_.settings().step);
}

}  // namespace entrain::learning
