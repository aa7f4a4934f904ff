#include "learn/held_law.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/signal_range.hpp"
#include "learn/update.hpp"

namespace entrain::learning {

HeldLaw::HeldLaw(RepeatedRun& run, std::vector<LearnedWire> wires)
    : run_(run), record_(std::move(wires), run.system().graph().outputs()) {}

LearnIteration HeldLaw::judged() {
  errors_.clear();
  for (std::size_t w = 0; w < record_.wires().size(); ++w) {
    base::SignalRange values = base::SignalRange::nothing();
    std::vector<double> errors;
    for (std::size_t k = 0; k < record_.steps(); k += record_.wires()[w].consumer_span) {
      values.take(record_.meant(w, k));
      errors.push_back(record_.error(w, k));
    }
    const double range = base::divisible_size(values.span_or_magnitude());
    for (double& error : errors) error /= range;
    errors_.push_back(std::move(errors));
  }
  return learning::judged(record_, run_.system().graph());
}

void HeldLaw::take(const RecordedRows& rows, const std::vector<double>&) {
  record_.clear();
  RunSummary summary;
  record_.begin(rows.signals, summary);
  const std::size_t width = rows.signals.size();
  for (std::size_t k = 0; k < rows.times.size(); ++k) {
    summary.macro_steps = k;
    record_.communicated({rows.times[k], std::span(rows.values).subspan(k * width, width), {}, {}}, summary);
  }
}

std::vector<Duration> HeldLaw::intervals() const {
  std::vector<Duration> result;
  for (const auto& wire : record_.wires()) {
    result.push_back(run_.settings().step * static_cast<double>(wire.consumer_span));
  }
  return result;
}

std::vector<double> HeldLaw::live() const {
  const auto outputs = guarded();
  std::vector<double> rows;
  if (record_.steps() == 0) return rows;
  for (std::size_t k = 0; k <= record_.steps(); ++k) {
    for (const OutputId output : outputs) {
      for (std::size_t w = 0; w < record_.wires().size(); ++w) {
        if (record_.wires()[w].connection.output != output) continue;
        rows.push_back(record_.passed_on(w, k));
        break;
      }
    }
  }
  return rows;
}

std::vector<LearnedCourse> HeldLaw::courses() const {
  return record_.courses(run_.system().graph());
}

running::CorrectionSchedule HeldLaw::schedule(const std::vector<double>& corrections) const {
  std::vector<InputId> inputs;
  for (const auto& wire : record_.wires()) inputs.push_back(wire.connection.input);
  return {run_.system().graph(), std::move(inputs), corrections};
}

LearningLaw::Repeatability HeldLaw::compared(const std::vector<double>& earlier, Compared part) const {
  Repeatability result;
  const auto now = record_.sent();
  const std::size_t each = steps() + 1;
  for (std::size_t w = 0; now.size() == earlier.size() && w < record_.wires().size(); ++w) {
    base::SignalRange values = base::SignalRange::of(std::span(now).subspan(w * each, each));
    double largest = 0.0;
    const std::size_t end = part == Compared::Start ? w * each + 1 : (w + 1) * each;
    for (std::size_t k = w * each; k < end; ++k) largest = std::max(largest, std::abs(now[k] - earlier[k]));
    const double relative = largest / base::divisible_size(values.span_or_magnitude());
    if (relative > result.difference || result.worst.empty())
      result = {relative, name_of(record_.wires()[w], run_.system().graph())};
  }
  return result;
}

void HeldLaw::update(std::vector<double>& corrections, const LearningTuning& tuning) {
  update_corrections(corrections, record_, tuning, run_.settings().step);
}

}  // namespace entrain::learning
