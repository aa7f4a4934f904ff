#include "learn/recorded_learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/signal_range.hpp"
#include "entrain/fact_codes.hpp"
#include "learn/acceleration.hpp"
#include "learn/noise.hpp"

namespace entrain::learning {
namespace {

constexpr double kOnTime = 1e-3;          // of a macro step: a row at a communication time
constexpr double kSameCorrection = 1e-6;  // of the range of the input

const Results::Column* column_named(const Results& results, const std::string& name) {
  const auto found = std::find_if(results.columns.begin(), results.columns.end(),
                                  [&](const Results::Column& column) { return column.name == name; });
  return found == results.columns.end() ? nullptr : &*found;
}

}  // namespace

RecordedLearner::RecordedLearner(RepeatedRun& run, const LearnOptions& options, const LearnProgress& progress,
                                 What what)
    : run_(run),
      options_(options),
      progress_(progress),
      law_(what.law),
      wires_(what.wires),
      graph_(run.system().graph()),
      grid_(run.settings().start, run.settings().stop, run.settings().step) {
  result_.cutoff = options.cutoff.value_or(0.0);
  result_.forgetting = options.forgetting.value_or(0.0);
}

void RecordedLearner::note(Fact fact) {
  result_.notes.push_back(std::move(fact));
  if (progress_.noted) progress_.noted(result_.notes.back());
}

/// Communication times up to the last that every signal has.
std::size_t RecordedLearner::rows_of(const RecordedRun& run) const {
  std::size_t rows = grid_.steps() + 1;
  for (const OutputId output : outputs_of(wires_)) {
    const auto* column = column_named(run.results, graph_.name(output));
    if (column == nullptr) {
      throw Error(ErrorCode::InvalidSystem, {FactCode::RecordedSignalMissing, {graph_.name(output), run.name}},
                  {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Record it: [record] variables"});
    }
    const auto& times = run.results.axes[column->axis];
    const Time last = times.empty() ? run_.settings().start : times.back();
    while (rows > 1 && grid_.time(rows - 1) > last + kOnTime * run_.settings().step) --rows;
  }
  return rows;
}

/// Of several rows at one time, as at an event, the first is the limit from the left.
std::vector<double> RecordedLearner::column(const RecordedRun& run, const Results::Column& column,
                                            std::size_t rows) const {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::InvalidSystem, {FactCode::RecordedTimes, {column.name, run.name}, {{"why", why}}},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Record without an interval"});
  };
  const auto& times = run.results.axes[column.axis];
  const Duration tolerance = kOnTime * run_.settings().step;
  std::vector<double> values;
  std::size_t at = 0;
  for (std::size_t k = 0; k < rows; ++k) {
    const Time time = grid_.time(k);
    while (at < times.size() && times[at] < time - tolerance) ++at;
    if (at >= times.size() || times[at] > time + tolerance) refuse(fmt::format("there is no row at t = {} s", time));
    if (!std::isfinite(column.values[at])) refuse(fmt::format("it is no number at t = {} s", time));
    values.push_back(column.values[at]);
  }
  if (rows < 2) refuse("fewer than two rows lie between start and stop");
  return values;
}

/// The corrections that the run was made with, as far as a file contains them.
std::vector<double> RecordedLearner::applied(const RecordedRun& run, std::size_t steps) const {
  std::vector<double> corrections(steps * numbers(), 0.0);
  if (!run.applied) return corrections;
  const Learned& learned = *run.applied;
  const std::size_t orders = law_.orders();
  if (learned.orders > orders || !base::same_time(learned.step, run_.settings().step)) {
    throw Error(ErrorCode::InvalidSystem,
                {FactCode::LearnedOtherGrid,
                 {},
                 {{"start", learned.start, "s"},
                  {"step", learned.step, "s"},
                  {"run_start", run_.settings().start, "s"},
                  {"run_step", run_.settings().step, "s"}}},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Choose the same step and --inputs"});
  }
  for (std::size_t w = 0; w < wires_.size(); ++w) {
    const auto found = std::find(learned.inputs.begin(), learned.inputs.end(), graph_.name(wires_[w].connection.input));
    if (found == learned.inputs.end()) continue;
    const auto input = static_cast<std::size_t>(found - learned.inputs.begin());
    for (std::size_t k = 0; k < std::min<std::size_t>(steps, learned.steps); ++k) {
      for (std::size_t p = 0; p < learned.orders; ++p) {
        corrections[(k * wires_.size() + w) * orders + p] =
            learned.corrections[(k * learned.inputs.size() + input) * learned.orders + p];
      }
    }
  }
  return corrections;
}

/// What an input is without a correction is the output at the start of the step. Where the file of the correction is
/// there, inputs that were not recorded follow from it; where the inputs are, the correction follows from them.
void RecordedLearner::complete_inputs(const RecordedRun& run, Read& read, const std::vector<bool>& recorded) const {
  const std::size_t width = read.rows.signals.size();
  const std::size_t orders = law_.orders();
  for (std::size_t w = 0; w < wires_.size(); ++w) {
    const LearnedWire& wire = wires_[w];
    const std::size_t input = graph_.outputs() + wire.connection.input;
    double passed_on = 0.0;
    std::size_t begun = 0;
    for (std::size_t k = 0; k + 1 < read.rows.times.size(); ++k) {
      if (k % wire.consumer_span == 0) {
        const double output = read.rows.values[k * width + wire.connection.output];
        passed_on = wire.connection.factor * output + wire.connection.offset;
        begun = k;
      }
      double& received = read.rows.values[(k + 1) * width + input];
      double* correction = read.corrections.data() + (begun * wires_.size() + w) * orders;
      if (recorded[w]) {
        if (!run.applied && begun == k) correction[0] = received - passed_on;
        continue;
      }
      received = passed_on;
      for (std::size_t p = 0; p < orders; ++p) received += correction[p];
    }
  }
}

RecordedLearner::Read RecordedLearner::read(const RecordedRun& run) const {
  Read read;
  const std::size_t rows = rows_of(run);
  for (std::size_t y = 0; y < graph_.outputs(); ++y) read.rows.signals.push_back({graph_.name(OutputId{y}), {}, {}});
  for (std::size_t u = 0; u < graph_.inputs(); ++u) read.rows.signals.push_back({graph_.name(InputId{u}), {}, {}});
  const std::size_t width = read.rows.signals.size();
  read.rows.values.assign(rows * width, 0.0);
  for (std::size_t k = 0; k < rows; ++k) read.rows.times.push_back(grid_.time(k));
  const auto fill = [&](std::size_t signal) {
    const auto* from = column_named(run.results, read.rows.signals[signal].name);
    if (from == nullptr) return false;
    read.rows.signals[signal].unit = from->unit;
    const auto values = column(run, *from, rows);
    for (std::size_t k = 0; k < rows; ++k) read.rows.values[k * width + signal] = values[k];
    return true;
  };
  for (const OutputId output : outputs_of(wires_)) fill(output);
  std::vector<bool> recorded;
  for (const auto& wire : wires_) recorded.push_back(fill(graph_.outputs() + wire.connection.input));
  read.corrections = applied(run, rows - 1);
  complete_inputs(run, read, recorded);
  return read;
}

bool RecordedLearner::same_corrections(const Group& group, const Read& read) const {
  if (group.corrections.size() != read.corrections.size()) return false;
  const std::size_t width = read.rows.signals.size();
  for (std::size_t w = 0; w < wires_.size(); ++w) {
    base::SignalRange values = base::SignalRange::nothing();
    for (std::size_t k = 1; k < read.rows.times.size(); ++k) {
      values.take(read.rows.values[k * width + graph_.outputs() + wires_[w].connection.input]);
    }
    const double allowed = kSameCorrection * base::divisible_size(values.span_or_magnitude());
    for (std::size_t k = 0; k < read.corrections.size(); ++k) {
      if (k % numbers() / law_.orders() != w) continue;
      if (!(std::abs(group.corrections[k] - read.corrections[k]) <= allowed)) return false;
    }
  }
  return true;
}

void RecordedLearner::judge(const RecordedRows& rows, const std::vector<double>& corrections, bool last_of_group) {
  law_.take(rows, corrections);
  LearnIteration iteration = law_.judged();
  if (!last_of_group) return;
  iteration.number = static_cast<int>(result_.iterations.size());
  iteration.horizon = rows.times.back();
  result_.iterations.push_back(std::move(iteration));
}

/// Of runs without change.
void RecordedLearner::measure_noise(const Group& group) {
  if (group.runs.size() < 2) return;
  judge(group.runs.front(), group.corrections, false);
  const auto sent = law_.sent();
  const auto errors = law_.errors();
  LearningLaw::Repeatability worst;
  for (std::size_t r = 1; r < group.runs.size(); ++r) {
    judge(group.runs[r], group.corrections, false);
    auto difference = law_.compared(sent, LearningLaw::Compared::Whole);
    if (difference.difference > worst.difference || worst.worst.empty()) worst = std::move(difference);
  }
  result_.repeatability = worst.difference;
  note({FactCode::RepeatabilityMeasured, {worst.worst}, {{"difference", worst.difference}}});
  if (!options_.cutoff) {
    result_.cutoff = cutoff_against_noise(errors, law_.errors(), law_.intervals());
    if (result_.cutoff > 0.0) note({FactCode::NoiseFiltered, {}, {{"cutoff", result_.cutoff, "Hz"}}});
  }
}

LearnResult RecordedLearner::learn(std::span<const RecordedRun> runs) {
  std::vector<Group> groups;
  for (const auto& run : runs) {
    Read next = read(run);
    if (groups.empty() || !same_corrections(groups.back(), next)) {
      groups.push_back({next.rows, std::move(next.corrections), {}});
    }
    groups.back().runs.push_back(std::move(next.rows));
  }
  for (auto& group : groups) {
    for (std::size_t i = 0; i < group.mean.values.size(); ++i) {
      double sum = 0.0;
      for (const auto& rows : group.runs) sum += rows.values[i];
      group.mean.values[i] = sum / static_cast<double>(group.runs.size());
    }
  }
  const Group& newest = groups.back();
  Fact from{FactCode::RunsLearnedFrom, {}, {{"runs", newest.runs.size()}}};
  if (groups.size() > 1) from.values.emplace_back("earlier", groups.size() - 1);
  note(std::move(from));
  measure_noise(newest);
  Acceleration acceleration(options_.memory, numbers());
  std::vector<double> next;
  WireErrors before;
  for (const auto& group : groups) {
    judge(group.mean, group.corrections, true);
    if (group.corrections.size() != newest.corrections.size()) continue;
    auto& iteration = result_.iterations.back();
    if (!before.empty()) iteration.gamma = measured_gamma(before, law_.errors());
    before = law_.errors();
    if (result_.before.empty()) result_.before = law_.courses();
    next = group.corrections;
    if (result_.repeatability && !options_.forgetting) {
      result_.forgetting = forgetting_against_noise(*result_.repeatability, result_.iterations.front().error);
    }
    law_.update(next, {options_.gain, result_.cutoff, result_.forgetting});
    acceleration.combine(group.corrections, next);
    if (progress_.iterated) progress_.iterated(iteration);
  }
  const LearnIteration& last = result_.iterations.back();
  result_.end = last.error <= options_.tolerance ? LearnEnd::Converged : LearnEnd::Iterations;
  result_.best = last.number;
  result_.stop = result_.learned_to = last.horizon;
  result_.after = law_.courses();
  result_.learned.error = last.error;
  result_.learned.steps = newest.mean.times.size() - 1;
  result_.learned.corrections = std::move(next);
  return std::move(result_);
}

}  // namespace entrain::learning
