#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "entrain/choices.hpp"
#include "entrain/export.hpp"
#include "entrain/fact.hpp"
#include "entrain/judged_run.hpp"
#include "entrain/options.hpp"
#include "entrain/real_time.hpp"
#include "entrain/results.hpp"

namespace entrain {

/// What the inputs are corrected to.
enum class LearnInputs {
  Held,     ///< constants: the outputs at the start of each step, as in the paper
  Linear,   ///< lines between the outputs at both ends of each step
  Hermite,  ///< cubics through these outputs with their slopes
};
template <>
struct ChoiceNames<LearnInputs> {
  static constexpr std::array<ChoiceName<LearnInputs>, 3> all{
      {{LearnInputs::Held, "held"}, {LearnInputs::Linear, "linear"}, {LearnInputs::Hermite, "hermite"}}};
};

/// A correction of the coupling found by repeated runs: what is added to some inputs in every macro step. It belongs to
/// the method with these options on this grid, and to no other run.
struct Learned {
  std::string system;
  Time start = 0.0;
  Duration step = 0.0;
  std::uint64_t steps = 0;                     ///< macro steps that are corrected; none after them
  std::map<std::string, OptionValue> options;  ///< of the method
  std::vector<std::string> inputs;             ///< "subsystem.input"
  LearnInputs kind = LearnInputs::Held;
  /// Polynomials in the share of the step, of each input: 1, 2 or 4 coefficients.
  std::size_t orders = 1;
  /// Macro step by macro step, the coefficients of one input after those of the other, in its unit.
  std::vector<double> corrections;
  double error = 0.0;  ///< as LearnIteration::error, of the run with these corrections: what was minimised
  /// Of a bench: a run whose outputs leave those of the run that was learned from is not corrected any more.
  struct Guard {
    double repeatability = 0.0;        ///< how far runs without change differ, of the range of a signal
    double allowed = 0.0;              ///< distance at which the correction begins to fade out, of the range
    std::vector<std::string> outputs;  ///< "subsystem.output"
    std::vector<double> ranges;        ///< by output
    std::vector<double> expected;      ///< macro step by macro step: the outputs at its start
  };
  std::optional<Guard> guard = {};
  /// What was run, line by line: subsystems with their start values, connections, schedule. A run of something else is
  /// refused; empty = not compared.
  std::vector<std::string> description;
  std::string file;  ///< where it was read; empty = made by this program
};

/// Learn the first seconds, then more and more.
enum class ProgressiveLearning {
  Auto,  ///< when learning the whole run at once diverges
  Always,
  Never,
};
template <>
struct ChoiceNames<ProgressiveLearning> {
  static constexpr std::array<ChoiceName<ProgressiveLearning>, 3> all{{{ProgressiveLearning::Auto, "auto"},
                                                                       {ProgressiveLearning::Always, "always"},
                                                                       {ProgressiveLearning::Never, "never"}}};
};

struct LearnOptions {
  std::optional<LearnInputs> inputs;  ///< nullopt: the best that all subsystems take
  int iterations = 30;                ///< runs at most; with a progressive horizon, per horizon
  double tolerance = 1e-9;            ///< largest error, relative to the range of the signal
  double gain = 1.0;                  ///< share of the error that is learned from each run
  int memory = 0;                     ///< earlier runs that the next correction is made of besides the last, at most 20
  /// Of the low-pass filter of the corrections in Hz; 0 = no filter. nullopt: on a bench from the measured noise, else
  /// none.
  std::optional<double> cutoff = {};
  /// Share of the corrections that is forgotten from run to run, 0 to below 1. nullopt: on a bench from the measured
  /// noise, else 0.
  std::optional<double> forgetting = {};
  /// On a bench: corrections fade out where an output is farther from the last run than this many times what runs
  /// differ by; 0 = never.
  double fade = 5.0;
  ProgressiveLearning progressive = ProgressiveLearning::Auto;
  Duration horizon = 0.0;  ///< by which a progressive horizon grows, in s; 0 = 1/20 of the run
  /// Every run at the pace of the wall clock.
  std::optional<RealTimeOptions> real_time = {};
  /// The errors of the run without corrections, and of the run with held inputs that were learned, are found too.
  bool compares = false;
  /// File that the learning can go on from, written before every run; empty: none is. Read when LearnProgress::planned
  /// has returned, which may set it.
  std::filesystem::path state = {};
  /// Goes on from that file. Everything but `iterations`, `tolerance`, `compares`, `threads` and the pace must be as it
  /// was.
  bool resumes = false;
  int threads = 1;
  const std::atomic<bool>* interrupt = nullptr;
};

/// How one learned connection did in one run.
struct LearnedConnection {
  std::string name;        ///< "a.y -> b.u"
  double norm = 0.0;       ///< 2-norm of the error over all macro steps, in the unit of the input
  double max_error = 0.0;  ///< largest of them
};

struct LearnIteration {
  int number = 0;      ///< from 0, the run without correction
  Time horizon = 0.0;  ///< how far this run went
  /// What is minimised: max over the connections and macro steps of |what the input should have been - what it was| /
  /// range of the signal; infinite when the run failed. It says nothing of the errors that held inputs leave.
  double error = 0.0;
  /// The largest factor by which the error of a frequency changed since the run before, where that is measured.
  std::optional<double> gamma = {};
  std::uint64_t missed_deadlines = 0;  ///< of a paced run
  std::uint64_t held_steps = 0;        ///< of parts outside, that ended without new outputs
  std::uint64_t lost_datagrams = 0;    ///< answers of parts outside that never came
  std::uint64_t limited = 0;           ///< corrections of this run that were limited (LearnResult::limits)
  std::optional<Time> faded = {};      ///< from when on the corrections were faded out
  /// Runs that are still needed at the rate of the last two: (log of what is left to the tolerance) / log gamma, where
  /// gamma is below 1.
  std::optional<int> runs_left = {};
  std::string not_used;  ///< why nothing is learned from it; empty: it is
  std::vector<LearnedConnection> connections;
  std::string failure;  ///< why the run ended early; empty if it did not
};

enum class LearnEnd {
  Converged,    ///< the tolerance is met
  Iterations,   ///< as many runs as allowed
  Stalled,      ///< runs no longer get better: rounding, or a filter or gain that holds the error
  Diverged,     ///< runs get worse
  Interrupted,  ///< by the user
};
ENTRAIN_API std::string_view to_string(LearnEnd end);

/// What is known before the first run.
struct LearnPlan {
  LearnInputs inputs = LearnInputs::Held;
  std::vector<std::string> connections;  ///< that are learned: "a.y -> b.u"
  std::vector<std::string> delayed;      ///< outputs that are passed on one step late: "a.y"
  std::vector<std::string> held;  ///< those that should be, but cannot be evaluated for another input: with a note
  /// Largest factor by which a sinusoidal error changes from run to run, from linearizations; below 1 every run is
  /// better than the one before. nullopt where a subsystem provides no linearization.
  std::optional<double> gamma;
  std::optional<double> radius;  ///< spectral radius of the loop with its delay and without corrections
  std::vector<Fact> notes;
};

/// What a learned input was in one run, and what it should have been, at the times its subsystem took it.
struct LearnedCourse {
  std::string connection;  ///< "a.y -> b.u"
  std::string unit;        ///< of the input
  std::vector<Time> times;
  std::vector<double> received;
  std::vector<double> meant;
};

struct LearnResult {
  /// Of the best run. Of a progressive horizon: of the longest one that was learned to its end; of the first one if
  /// none was.
  Learned learned;
  Time learned_to = 0.0;  ///< where its macro steps end
  Time stop = 0.0;        ///< where they were to end
  LearnEnd end = LearnEnd::Iterations;
  std::vector<LearnIteration> iterations;
  /// With parts outside or in real time: how far two runs without change differ, of the range of the signal.
  std::optional<double> repeatability = {};
  double cutoff = 0.0;      ///< of the filter in force, in Hz; 0 = none
  double forgetting = 0.0;  ///< in force
  /// By connection, on a bench: the largest correction, in the unit of the input.
  std::vector<double> limits = {};
  int best = 0;            ///< its place in `iterations`
  double full_runs = 0.0;  ///< the cost: time simulated in all runs, in runs from start to stop
  LearnPlan plan;
  std::vector<LearnedCourse> before;  ///< of the first run, a course per learned connection
  std::vector<LearnedCourse> after;   ///< of the best run
  /// The errors of the run with the corrections, propagated beside it or unknown: a correction belongs to one step, so
  /// that no run with another one can be compared. Nullopt: interrupted before.
  std::optional<JudgedRun> judged = {};
  std::optional<JudgedRun> uncorrected = {};   ///< without corrections, with LearnOptions::compares
  std::optional<JudgedRun> held_learned = {};  ///< with held inputs that were learned, likewise
  std::vector<Fact> notes;                     ///< those of the plan first

  /// No run with a correction was better than the one without.
  bool learned_nothing() const {
    return std::all_of(learned.corrections.begin(), learned.corrections.end(), [](double c) { return c == 0.0; });
  }
};

/// Watches repeated runs; each function may be empty.
struct LearnProgress {
  std::function<void(const LearnPlan&)> planned = {};
  std::function<void(const LearnIteration&)> iterated = {};
  std::function<void(const Fact&)> noted = {};  ///< between two runs: what is done differently from now on
};

/// Runs the system again and again with the method that can be corrected (learnable_method) and a fixed step, and
/// learns what to add to the inputs: with held inputs to those that follow outputs with feedthrough, or outputs of a
/// subsystem with a longer step; else to all of them. Throws Error when the system cannot be run, or not twice.
ENTRAIN_API LearnResult learn(const SystemDescription& description, const LearnOptions& options,
                              const LearnProgress& progress = {}, const Extensions& extensions = {});

/// A run that was recorded, of a bench that another program drives or of this one.
struct RecordedRun {
  std::string name;                     ///< for messages: the folder or file
  Results results;                      ///< outputs and inputs of all learned connections at every communication time
  std::optional<Learned> applied = {};  ///< the correction it was run with; nullopt: what inputs and outputs show
};

/// Learns from recorded runs alone: nothing is run. The newest run is the last; those with the same corrections are
/// averaged and show the repeatability, earlier ones with others serve LearnOptions::memory. In a row the outputs are
/// those at its time, the inputs those of the step that ended there. Throws Error for signals that are missing.
ENTRAIN_API LearnResult learn_from(const SystemDescription& description, std::span<const RecordedRun> runs,
                                   const LearnOptions& options, const LearnProgress& progress = {},
                                   const Extensions& extensions = {});

/// The description as the learned correction needs it: method, options and step. To be run with RunOptions::learned.
/// Throws Error{InvalidSystem} when no run with these options could be corrected.
ENTRAIN_API SystemDescription with_learned(SystemDescription description, const Learned& learned);

/// The method whose inputs can be corrected.
ENTRAIN_API const std::string& learnable_method();

/// What a user asks for besides a learned correction.
struct AskedBesides {
  std::optional<std::string> method;
  std::optional<Duration> step;
  WrittenOptions options;  ///< of the learnable method
};
/// What of it cannot be had with the correction, which brings its own method, step and options.
ENTRAIN_API std::vector<Problem> contradictions(const Learned& learned, const AskedBesides& asked);

/// `path`: the file, or the folder that holds learned.json. Throws Error{FileFailed} when there is no such file,
/// Error{InvalidSystem} when it holds something else.
ENTRAIN_API Learned read_learned(const std::filesystem::path& path);
/// Writes a learned.json that reads back to the same numbers. Throws Error{FileFailed}.
ENTRAIN_API void save_learned(const Learned& learned, const std::filesystem::path& file);

/// The folder of a run, or a file of results. `applied` is the file that run.json names. Throws Error{FileFailed}, also
/// when that file is gone.
ENTRAIN_API RecordedRun read_recorded_run(const std::filesystem::path& path);

/// How the repeated runs went, as JSON; the corrections themselves are not in it.
ENTRAIN_API std::string learning_json(const LearnResult& result);
/// Writes that text, in place of what the file was. Throws Error{FileFailed}.
ENTRAIN_API void save_learning(const LearnResult& result, const std::filesystem::path& file);
/// How the repeated runs went, as HTML in one file: error per run, horizon, and every learned input in the first run,
/// in the best one, and as it should have been. Throws Error{FileFailed}, also when reports are not included.
ENTRAIN_API void write_learning_page(const LearnResult& result, const LearnOptions& options,
                                     const std::filesystem::path& file);

}  // namespace entrain
