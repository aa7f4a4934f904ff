#include "learn/waveform_law.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/signal_range.hpp"
#include "coupling/engine.hpp"
#include "learn/update.hpp"
#include "session/learned.hpp"

namespace entrain::learning {
namespace {

constexpr std::size_t kStencil = 5;                      // of a slope by differences: order 4
constexpr std::array<double, 3> kShares{0.0, 0.5, 1.0};  // of a step, where it is judged

std::vector<LearnedWire> all_wires(const CoupledSystem& system, Duration step) {
  std::vector<LearnedWire> wires;
  const Graph& graph = system.graph();
  for (const auto& connection : graph.connections()) {
    wires.push_back({connection, false, span_of(system, graph.owner(connection.output), step),
                     span_of(system, graph.owner(connection.input), step)});
  }
  return wires;
}

}  // namespace

std::size_t WaveformLaw::orders_of(LearnInputs kind) {
  switch (kind) {
    case LearnInputs::Held: return 1;
    case LearnInputs::Linear: return 2;
    case LearnInputs::Hermite: return 4;
  }
  return 1;
}

WaveformLaw::WaveformLaw(RepeatedRun& run, LearnInputs kind, std::vector<OutputId> followers, Source source)
    : run_(run),
      kind_(kind),
      orders_(orders_of(kind)),
      outputs_(run.system().graph().outputs()),
      inputs_(run.system().graph().inputs()),
      wires_(all_wires(run.system(), run.settings().step)),
      algebraic_(run.system().graph(), std::move(followers)),
      waveforms_(session::waveforms_of(run.system(), run.settings().step, orders_)) {
  const CoupledSystem& system = run.system();
  for (std::size_t y = 0; y < outputs_; ++y) {
    output_spans_.push_back(span_of(system, system.graph().owner(OutputId{y}), run.settings().step));
  }
  for (const auto& wire : wires_) {
    const int taken = waveforms_.input_degree[system.graph().owner(wire.connection.input)];
    degrees_.push_back(std::min(taken == 2 ? 1 : taken, static_cast<int>(orders_) - 1));
  }
  if (source == Source::RecordsOfABench) return;
  run.initialize();
  algebraic_.look_at_start(run.system());
  largest_radius_ = algebraic_.radius();
}

void WaveformLaw::clear() {
  times_.clear();
  for (auto* numbers : {&sent_, &ended_, &slopes_, &gains_, &received_, &found_, &found_slopes_}) numbers->clear();
}

Observer::Needs WaveformLaw::needs() const {
  Needs needs;
  needs.slopes = kind_ == LearnInputs::Hermite;
  return needs;
}

void WaveformLaw::begin(std::span<const Signal> signals, const RunSummary&) {
  units_.clear();
  for (const auto& wire : wires_) units_.push_back(signals[outputs_ + wire.connection.input].unit);
}

void WaveformLaw::communicated(const Sample& sample, const RunSummary& summary) {
  const auto add = [](std::vector<double>& to, std::span<const double> from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  times_.push_back(sample.t);
  add(sent_, sample.values.first(outputs_));
  add(ended_, sample.values.subspan(outputs_, inputs_));
  if (kind_ == LearnInputs::Hermite) add(slopes_, sample.slopes.first(outputs_));
  if (algebraic_.any()) {
    algebraic_.read(run_.system());
    add(gains_, algebraic_.numbers());
  }
  if (summary.macro_steps == 0) return;
  const Graph& graph = run_.system().graph();
  for (std::size_t w = 0; w < wires_.size(); ++w) {
    const InputId input = wires_[w].connection.input;
    const SubsystemId owner = graph.owner(input);
    double power = 1.0;
    for (std::size_t p = 0; p < orders_; ++p, power *= waveforms_.steps[owner]) {
      const int order = static_cast<int>(p);
      const bool has = order <= degrees_[w];
      received_.push_back(
          has ? power * run_.system().coefficients(owner, degrees_[w], order)[input - graph.inputs_of(owner).first]
              : 0.0);
    }
  }
}

/// The inputs are polynomials whose end was recorded; all but their first coefficient is what was applied.
void WaveformLaw::take(const RecordedRows& rows, const std::vector<double>& applied) {
  clear();
  begin(rows.signals, {});
  const std::size_t width = outputs_ + inputs_;
  for (std::size_t k = 0; k < rows.times.size(); ++k) {
    const auto row = std::span(rows.values).subspan(k * width, width);
    times_.push_back(rows.times[k]);
    sent_.insert(sent_.end(), row.begin(), row.begin() + std::ptrdiff_t(outputs_));
    ended_.insert(ended_.end(), row.begin() + std::ptrdiff_t(outputs_), row.end());
    gains_.insert(gains_.end(), algebraic_.numbers().begin(), algebraic_.numbers().end());
  }
  if (kind_ == LearnInputs::Hermite) slopes_.assign(sent_.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t k = 0; k + 1 < times_.size(); ++k) {
    for (std::size_t w = 0; w < wires_.size(); ++w) {
      Polynomial c{};
      const double* from = applied.data() + (k * wires_.size() + w) * orders_;
      std::copy(from, from + degrees_[w] + 1, c.begin());
      const double end = ended_[end_of(wires_[w], k) * inputs_ + wires_[w].connection.input];
      c[0] = 0.0;
      c[0] = end - value(c, step_share(wires_[w], k));
      received_.insert(received_.end(), c.begin(), c.begin() + std::ptrdiff_t(orders_));
    }
  }
}

/// What a part outside has answered late is known after the run, at its own time; what never came lies between its
/// neighbours.
void WaveformLaw::take_answers() {
  CoupledSystem& system = run_.system();
  for (std::size_t s = 0; s < system.size(); ++s) {
    Remote* remote = system.facets(SubsystemId{s}).remote;
    if (remote == nullptr) continue;
    const auto answers = remote->answers();
    const auto outputs = system.graph().outputs_of(SubsystemId{s});
    if (answers.times.empty() || outputs.count == 0) continue;
    const std::size_t span = output_spans_[outputs.first];
    std::vector<std::size_t> row((times_.size() - 1) / span + 1, answers.times.size());
    for (std::size_t a = 0; a < answers.times.size(); ++a) {
      const double place = (answers.times[a] - times_.front()) / (run_.settings().step * static_cast<double>(span));
      const double nearest = std::round(place);
      if (nearest < 0.0 || !(nearest < static_cast<double>(row.size())) || std::abs(place - nearest) > 1e-3) continue;
      row[static_cast<std::size_t>(nearest)] = a;
    }
    std::size_t before = row.size();
    for (std::size_t n = 0; n < row.size(); ++n) {
      if (row[n] == answers.times.size()) continue;
      for (std::size_t o = 0; o < outputs.count; ++o) {
        const double value = answers.outputs[row[n] * outputs.count + o];
        found_[n * span * outputs_ + outputs.first + o] = value;
        if (before == row.size()) continue;
        const double last = answers.outputs[row[before] * outputs.count + o];
        for (std::size_t m = before + 1; m < n; ++m) {
          const double share = static_cast<double>(m - before) / static_cast<double>(n - before);
          found_[m * span * outputs_ + outputs.first + o] = last + share * (value - last);
        }
      }
      before = n;
    }
  }
}

LearningLaw::Repeatability WaveformLaw::compared(const std::vector<double>& earlier, Compared part) const {
  Repeatability result;
  if (earlier.size() != found_.size()) return result;
  for (const auto& wire : wires_) {
    base::SignalRange values = base::SignalRange::nothing();
    double largest = 0.0;
    for (std::size_t k = 0; k < times_.size(); k += wire.source_span) {
      const std::size_t place = k * outputs_ + wire.connection.output;
      values.take(found_[place]);
      if (part == Compared::Whole || k == 0) largest = std::max(largest, std::abs(found_[place] - earlier[place]));
    }
    const double relative = largest / base::divisible_size(values.span_or_magnitude());
    if (relative > result.difference || result.worst.empty()) result = {relative, name_of(wire, run_.system().graph())};
  }
  return result;
}

void WaveformLaw::find_outputs() {
  found_ = sent_;
  take_answers();
  find_slopes();
  for (std::size_t y = 0; y < outputs_; ++y) {
    for (std::size_t k = 0; k < times_.size(); ++k) {
      if (k % output_spans_[y] != 0) found_[k * outputs_ + y] = output_at(OutputId{y}, k).value;
    }
  }
  largest_radius_ = 0.0;
  if (!algebraic_.any()) return;
  correct_outputs();
  find_slopes();
}

/// Where the subsystem of an output is in the middle of a step, it answers no input.
void WaveformLaw::correct_outputs() {
  const std::size_t gains = algebraic_.numbers().size();
  const std::size_t looks = std::max<std::size_t>(1, times_.size() / 50);
  for (std::size_t k = 0; k < times_.size(); ++k) {
    algebraic_.use(std::span(gains_).subspan(k * gains, gains));
    if (k % looks == 0) largest_radius_ = std::max(largest_radius_, algebraic_.radius());
    if (k == 0) continue;  // the start is consistent
    for (const OutputId output : algebraic_.followers()) {
      if (k % output_spans_[output] != 0) algebraic_.hold(output);
    }
    algebraic_.correct(std::span(ended_).subspan(k * inputs_, inputs_),
                       std::span(found_).subspan(k * outputs_, outputs_));
  }
  if (!times_.empty()) algebraic_.use(std::span(gains_).first(gains));  // the next run begins as this one did
}

/// A subsystem knows the slopes of outputs without feedthrough; all others come from differences.
void WaveformLaw::find_slopes() {
  if (kind_ != LearnInputs::Hermite) return;
  found_slopes_.assign(found_.size(), 0.0);
  for (std::size_t y = 0; y < outputs_; ++y) {
    const OutputId output{y};
    for (std::size_t k = 0; k < times_.size(); k += output_spans_[y]) {
      const double known = slopes_[k * outputs_ + y];
      const bool usable = !algebraic_.follows(output) && std::isfinite(known);
      found_slopes_[k * outputs_ + y] = usable ? known : difference_slope(output, k);
    }
  }
}

/// Of the polynomial through the communication times around this one.
double WaveformLaw::difference_slope(OutputId output, std::size_t k) const {
  const std::size_t span = output_spans_[output];
  const std::size_t last = (times_.size() - 1) / span;
  const std::size_t count = std::min(kStencil, last + 1);
  if (count < 2) return 0.0;
  const std::size_t here = k / span;
  const std::size_t first = std::min(here < count / 2 ? 0 : here - count / 2, last + 1 - count);
  const auto time = [&](std::size_t i) { return times_[i * span]; };
  double slope = 0.0;
  for (std::size_t j = first; j < first + count; ++j) {
    double weight = 0.0;
    if (j == here) {
      for (std::size_t l = first; l < first + count; ++l) weight += l == here ? 0.0 : 1.0 / (time(here) - time(l));
    } else {
      weight = 1.0 / (time(j) - time(here));
      for (std::size_t l = first; l < first + count; ++l) {
        if (l != j && l != here) weight *= (time(here) - time(l)) / (time(j) - time(l));
      }
    }
    slope += weight * found_[j * span * outputs_ + output];
  }
  return slope;
}

/// Between two communication times of its subsystem as Pi has it.
numerics::EndPoint WaveformLaw::output_at(OutputId output, std::size_t k) const {
  const std::size_t span = output_spans_[output];
  const bool cubic = kind_ == LearnInputs::Hermite;
  const auto known = [&](std::size_t at) {
    return numerics::EndPoint{found_[at * outputs_ + output], cubic ? found_slopes_[at * outputs_ + output] : 0.0};
  };
  const std::size_t before = k / span * span;
  const std::size_t after = before + span;
  if (before == k || after >= times_.size()) return known(before);
  const numerics::CubicHermite piece{known(before), known(after), times_[after] - times_[before]};
  const double share = (times_[k] - times_[before]) / piece.length;
  const double line = piece.rise() / piece.length;
  if (!cubic) return {piece.left.value + share * piece.rise(), line};
  const auto c = piece.coefficients();
  const double s = share * piece.length;
  return {piece.at(share), c[1] + s * (2.0 * c[2] + s * 3.0 * c[3])};
}

std::size_t WaveformLaw::end_of(const LearnedWire& wire, std::size_t k) const {
  return std::min(k + wire.consumer_span, times_.size() - 1);
}

/// A last step may be shorter.
double WaveformLaw::step_share(const LearnedWire& wire, std::size_t k) const {
  const Duration whole = waveforms_.steps[run_.system().graph().owner(wire.connection.input)];
  return (times_[end_of(wire, k)] - times_[k]) / whole;
}

WaveformLaw::Polynomial WaveformLaw::meant(std::size_t w, std::size_t k) const {
  const LearnedWire& wire = wires_[w];
  const OutputId output = wire.connection.output;
  const double share = step_share(wire, k);
  const Duration whole = (times_[end_of(wire, k)] - times_[k]) / share;
  numerics::CubicHermite piece{output_at(output, k), output_at(output, end_of(wire, k)), share};
  piece.left.slope *= whole;
  piece.right.slope *= whole;
  Polynomial result{};
  if (degrees_[w] == 0) {
    result[0] = 0.5 * (piece.left.value + piece.right.value) + share * (piece.left.slope - piece.right.slope) / 12.0;
  } else if (degrees_[w] == 1) {
    result = {piece.left.value, piece.rise() / share, 0.0, 0.0};
  } else {
    result = piece.coefficients();
  }
  for (double& coefficient : result) coefficient *= wire.connection.factor;
  result[0] += wire.connection.offset;
  return result;
}

WaveformLaw::Polynomial WaveformLaw::received(std::size_t w, std::size_t k) const {
  Polynomial result{};
  const double* from = received_.data() + (k * wires_.size() + w) * orders_;
  std::copy(from, from + orders_, result.begin());
  return result;
}

double WaveformLaw::value(const Polynomial& c, double share) {
  return c[0] + share * (c[1] + share * (c[2] + share * c[3]));
}

LearnIteration WaveformLaw::judged() {
  find_outputs();
  LearnIteration result;
  const Graph& graph = run_.system().graph();
  std::vector<std::vector<double>> errors(wires_.size());
  for (std::size_t w = 0; w < wires_.size(); ++w) {
    LearnedConnection entry{name_of(wires_[w], graph), 0.0, 0.0};
    base::SignalRange values = base::SignalRange::nothing();
    double squares = 0.0;
    for (std::size_t k = 0; k < steps(); k += wires_[w].consumer_span) {
      const Polynomial should = meant(w, k);
      const Polynomial was = received(w, k);
      const double end = step_share(wires_[w], k);
      double largest = 0.0;
      for (const double share : kShares) {
        const double error = std::abs(value(should, share * end) - value(was, share * end));
        if (!(error <= largest)) largest = error;  // NaN stays
      }
      values.take(value(should, 0.0));
      squares += largest * largest;
      if (!(largest <= entry.max_error)) entry.max_error = largest;
      errors[w].push_back(value(should, 0.5 * end) - value(was, 0.5 * end));
    }
    entry.norm = std::sqrt(squares);
    double range = values.span_or_magnitude();
    if (!(range > 0.0)) range = 1.0;
    result.error = std::isfinite(entry.norm) ? std::max(result.error, entry.max_error / range)
                                             : std::numeric_limits<double>::infinity();
    for (double& error : errors[w]) error /= range;
    result.connections.push_back(std::move(entry));
    if (!std::isfinite(result.error)) break;
  }
  errors_ = std::move(errors);
  return result;
}

std::vector<Duration> WaveformLaw::intervals() const {
  std::vector<Duration> result;
  for (const auto& wire : wires_) {
    result.push_back(run_.settings().step * static_cast<double>(wire.consumer_span));
  }
  return result;
}

std::vector<double> WaveformLaw::live() const {
  const auto outputs = guarded();
  std::vector<double> rows;
  for (std::size_t k = 0; k < times_.size(); ++k) {
    for (const OutputId output : outputs) rows.push_back(sent_[k * outputs_ + output]);
  }
  return rows;
}

std::vector<LearnedCourse> WaveformLaw::courses() const {
  std::vector<LearnedCourse> courses;
  const Graph& graph = run_.system().graph();
  for (std::size_t w = 0; w < wires_.size(); ++w) {
    LearnedCourse course;
    course.connection = name_of(wires_[w], graph);
    if (w < units_.size()) course.unit = units_[w];
    for (std::size_t k = 0; k < steps(); k += wires_[w].consumer_span) {
      const double middle = 0.5 * step_share(wires_[w], k);
      course.times.push_back(0.5 * (times_[k] + times_[end_of(wires_[w], k)]));
      course.received.push_back(value(received(w, k), middle));
      course.meant.push_back(value(meant(w, k), middle));
    }
    courses.push_back(std::move(course));
  }
  return courses;
}

running::CorrectionSchedule WaveformLaw::schedule(const std::vector<double>& corrections) const {
  std::vector<InputId> inputs;
  for (const auto& wire : wires_) inputs.push_back(wire.connection.input);
  return {run_.system().graph(), std::move(inputs), corrections, waveforms_};
}

void WaveformLaw::update(std::vector<double>& corrections, const LearningTuning& tuning) {
  std::vector<double> next;
  for (std::size_t w = 0; w < wires_.size(); ++w) {
    const LearnedWire& wire = wires_[w];
    const std::size_t stride = wire.consumer_span;
    for (std::size_t p = 0; p <= static_cast<std::size_t>(degrees_[w]); ++p) {
      next.clear();
      for (std::size_t k = 0; k < steps(); k += stride) {
        double change = meant(w, k)[p] - received(w, k)[p];
        // What the method extrapolates from changes by as much as the outputs do.
        const std::size_t sent = (k / wire.source_span * wire.source_span) * outputs_ + wire.connection.output;
        if (p == 0) change -= wire.connection.factor * (found_[sent] - sent_[sent]);
        const double kept = (1.0 - tuning.forgetting) * corrections[(k * wires_.size() + w) * orders_ + p];
        next.push_back(kept + tuning.gain * change);
      }
      if (tuning.cutoff > 0.0 && !next.empty()) {
        smooth(std::span(next).subspan(1), tuning.cutoff, run_.settings().step * static_cast<double>(stride));
      }
      for (std::size_t n = 0; n < next.size(); ++n) {
        corrections[(n * stride * wires_.size() + w) * orders_ + p] = next[n];
      }
    }
  }
}

}  // namespace entrain::learning
