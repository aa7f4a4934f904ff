#include "learn/learned_connections.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/signal_range.hpp"
#include "methods/calendar.hpp"

namespace entrain::learning {
namespace {

/// As it comes in without a correction.
double transferred(const Connection& connection, double output) {
  return connection.factor * output + connection.offset;
}

}  // namespace

std::size_t span_of(const CoupledSystem& system, SubsystemId s, Duration step) {
  const auto& imposed = system.capabilities(s).imposed_step;
  return imposed ? static_cast<std::size_t>(method::whole_ratio(*imposed, step).value_or(1)) : 1;
}

std::vector<LearnedWire> learned_wires(const CoupledSystem& system, std::span<const OutputId> late, Duration step) {
  std::vector<LearnedWire> wires;
  const Graph& graph = system.graph();
  for (const auto& connection : graph.connections()) {
    LearnedWire wire;
    wire.connection = connection;
    wire.late = std::find(late.begin(), late.end(), connection.output) != late.end();
    wire.source_span = span_of(system, graph.owner(connection.output), step);
    wire.consumer_span = span_of(system, graph.owner(connection.input), step);
    if (wire.late || wire.consumer_span % wire.source_span != 0) wires.push_back(wire);
  }
  return wires;
}

WireRecord::WireRecord(std::vector<LearnedWire> wires, std::size_t outputs_of_all)
    : wires_(std::move(wires)), first_input_(outputs_of_all), received_(wires_.size()), sent_(wires_.size()) {}

std::string name_of(const LearnedWire& wire, const Graph& graph) {
  return graph.name(wire.connection.output) + " -> " + graph.name(wire.connection.input);
}

std::vector<OutputId> outputs_of(std::span<const LearnedWire> wires) {
  std::vector<OutputId> outputs;
  for (const auto& wire : wires) {
    const OutputId output = wire.connection.output;
    if (std::find(outputs.begin(), outputs.end(), output) == outputs.end()) outputs.push_back(output);
  }
  return outputs;
}

void WireRecord::clear() {
  times_.clear();
  for (auto& values : received_) values.clear();
  for (auto& values : sent_) values.clear();
}

void WireRecord::begin(std::span<const Signal> signals, const RunSummary&) {
  units_.clear();
  for (const auto& wire : wires_) units_.push_back(signals[first_input_ + wire.connection.input].unit);
}

void WireRecord::communicated(const Sample& sample, const RunSummary& summary) {
  times_.push_back(sample.t);
  for (std::size_t w = 0; w < wires_.size(); ++w) {
    const Connection& connection = wires_[w].connection;
    sent_[w].push_back(sample.values[connection.output]);
    if (summary.macro_steps > 0) received_[w].push_back(sample.values[first_input_ + connection.input]);
  }
}

/// The output as it was at the communication time k of its subsystem; the latest known one after the last.
double WireRecord::output_at(std::size_t w, std::size_t k) const {
  const LearnedWire& wire = wires_[w];
  const std::size_t sent_at = wire.late ? k + wire.source_span : k;
  return sent_[w][std::min(sent_at, sent_[w].size() - 1)];
}

double WireRecord::meant(std::size_t w, std::size_t k) const {
  const std::size_t span = wires_[w].source_span;
  const std::size_t before = k / span * span;
  const double value = output_at(w, before);
  if (before == k) return transferred(wires_[w].connection, value);
  const double share = static_cast<double>(k - before) / static_cast<double>(span);
  return transferred(wires_[w].connection, value + share * (output_at(w, before + span) - value));
}

double WireRecord::error(std::size_t w, std::size_t k) const {
  return k % wires_[w].consumer_span == 0 ? meant(w, k) - received(w, k) : 0.0;
}

std::vector<double> WireRecord::sent() const {
  std::vector<double> all;
  for (const auto& values : sent_) all.insert(all.end(), values.begin(), values.end());
  return all;
}

std::vector<LearnedCourse> WireRecord::courses(const Graph& graph) const {
  std::vector<LearnedCourse> courses;
  for (std::size_t w = 0; w < wires_.size(); ++w) {
    LearnedCourse course;
    course.connection = name_of(wires_[w], graph);
    if (w < units_.size()) course.unit = units_[w];
    for (std::size_t k = 0; k < steps(); k += wires_[w].consumer_span) {
      course.times.push_back(times_[k]);
      course.received.push_back(received(w, k));
      course.meant.push_back(meant(w, k));
    }
    courses.push_back(std::move(course));
  }
  return courses;
}

LearnIteration judged(const WireRecord& record, const Graph& graph) {
  LearnIteration result;
  for (std::size_t w = 0; w < record.wires().size(); ++w) {
    LearnedConnection entry{name_of(record.wires()[w], graph), 0.0, 0.0};
    base::SignalRange values = base::SignalRange::nothing();
    double squares = 0.0;
    for (std::size_t k = 0; k < record.steps(); ++k) {
      const double error = record.error(w, k);
      const double meant = record.meant(w, k);
      values.take(meant);
      squares += error * error;
      entry.max_error = std::max(entry.max_error, std::abs(error));
    }
    entry.norm = std::sqrt(squares);
    // A constant signal has no range; its size stands in, or 1 in its unit.
    double range = values.span_or_magnitude();
    if (!(range > 0.0)) range = 1.0;
    const double relative = entry.max_error / range;
    result.error =
        std::isfinite(entry.norm) ? std::max(result.error, relative) : std::numeric_limits<double>::infinity();
    result.connections.push_back(std::move(entry));
  }
  return result;
}

}  // namespace entrain::learning
