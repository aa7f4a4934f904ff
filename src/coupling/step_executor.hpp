#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/function_ref.hpp"
#include "base/thread_pool.hpp"
#include "coupling/call_log.hpp"
#include "coupling/shared_calls.hpp"
#include "coupling/signal_store.hpp"
#include "coupling/step_calls.hpp"
#include "entrain/coupled_system.hpp"
#include "entrain/error.hpp"
#include "entrain/graph.hpp"
#include "entrain/subsystem.hpp"

namespace entrain::coupling {

class EventPhase;

/// Steps that are made at the same time, one per task. Everything it refers to lives until `wait` returns.
struct StepBatch {
  enum class Purpose { Commit, Trial };  ///< a trial is counted and timed as such, and moves no time

  std::span<const StepTask> tasks;
  Purpose purpose = Purpose::Commit;
  /// One per task: what is read next, brought along with the answer. Empty: nothing.
  std::span<const StepReadings> readings = {};
  /// All or none; without it, each by its own number of steps.
  std::optional<bool> timed = {};
  bool ends_at_events = false;  ///< a step may be left at an event that waits for others; else it is handled alone
  /// On the thread that makes step i. `before`: false where nothing is to be stepped. `after`: whatever came of it.
  std::optional<base::FunctionRef<bool(std::size_t)>> before = {};
  std::optional<base::FunctionRef<void(std::size_t)>> after = {};
};

/// Makes the steps of all subsystems, in batches with two phases: `post` sends them, `wait` returns when
/// all are made. Steps run on the threads of a pool; subsystems with the facet SplitStep compute wherever they live,
/// all of a batch at the same time (docs/adr/0048). Each step writes its own slots of the signal store.
///
/// If several fail, the first in the order of the batch is reported, whichever was first.
class StepExecutor {
 public:
  /// One subsystem and what its steps need.
  struct Participant {
    std::unique_ptr<Subsystem> subsystem;
    StepSlots step;
    SplitStep* split = nullptr;
    bool made_apart = false;           // its steps: posted, or made by another process
    bool calling_thread = false;       // it is called by the thread that waits for the batch
    CoupledSystem::Counters counters;  // but for the steps, which are in steps_
    StepResult result;                 // of its latest step
    std::exception_ptr failure;        // in the batch under way

    std::span<double> outputs() const { return step.slots.outputs; }
    std::span<double> inputs() const { return step.slots.inputs; }  ///< as they ended the last step
  };

  /// `shared`: null where all subsystems live in this process; borrowed.
  StepExecutor(const Graph& graph, SignalStore& store, std::vector<std::unique_ptr<Subsystem>> subsystems, int threads,
               SharedCalls* shared = nullptr);

  std::size_t size() const { return participants_.size(); }
  Participant& of(SubsystemId s) { return participants_[s]; }
  const Participant& of(SubsystemId s) const { return participants_[s]; }
  Subsystem& subsystem(SubsystemId s) { return *participants_[s].subsystem; }
  const Subsystem& subsystem(SubsystemId s) const { return *participants_[s].subsystem; }
  /// Its outputs where it is; from now on it holds these inputs.
  void evaluate(SubsystemId s, std::span<const double> inputs, std::span<double> outputs) {
    participants_[s].step.last_part = 0.0;
    participants_[s].subsystem->evaluate(inputs, outputs);
  }

  /// From now on steps are made by so many threads, at most one per subsystem. Between batches.
  void use_threads(int threads);
  int threads() const { return pool_.threads(); }

  // Batches, one at a time.
  void post(const StepBatch& batch);
  /// The same for tasks of a caller that may not live as long: they are copied.
  void post(std::span<const StepTask> tasks);
  /// Nothing happens where nothing was posted.
  void wait();
  void run(const StepBatch& batch) {
    post(batch);
    wait();
  }
  /// A step inside that of another, which a batch is making. Returns the event or the wish to stop that ended it early.
  std::optional<Time> step_inside(const StepTask& task);
  /// One step of everyone under held inputs.
  void run(const CommonStep& common);
  /// From now on every step of the subsystem is made in so many calls, under the same inputs: what then differs is its
  /// integration inside.
  void divide_steps(SubsystemId s, int calls);
  /// Any other work, one part for each of `batch`.
  void for_each(std::span<const SubsystemId> batch, base::FunctionRef<void(std::size_t)> work);
  /// The same for all, one after the other.
  void for_everyone(base::FunctionRef<void(SubsystemId)> work);

  /// Subsystems live in several processes.
  bool is_distributed() const { return shared_ != nullptr; }
  bool is_here(SubsystemId s) const { return shared_ == nullptr || shared_->is_here(s); }
  /// Part of the work of a batch, of `for_each` or of `for_everyone` that needs no more than what lives with `s`: done
  /// there alone. What it leaves in `results`, or throws, comes to all.
  template <class Work, class... Numbers>
  void at_home(SubsystemId s, Work&& work, std::span<Numbers>... results) {
    if (shared_ == nullptr) return work();
    const std::array<std::span<std::byte>, sizeof...(Numbers)> bytes{std::as_writable_bytes(results)...};
    shared_->at_home(s, work, bytes);
  }
  /// Bytes that are made there, likewise.
  base::Bytes bytes_of(SubsystemId s, base::FunctionRef<base::Bytes()> make) {
    return shared_ == nullptr ? make() : shared_->bytes_of(s, make);
  }

  // Where they stand.
  Time time_of(SubsystemId s) const { return common_steps_ > 0 ? common_time_ : times_[s]; }
  bool all_at(Time t) const { return common_steps_ > 0 ? common_time_ == t : each_at(t); }
  std::span<const Time> times();
  void set_all_times(Time t);
  CoupledSystem::Counters counters(SubsystemId s) const;
  /// The first calls since the start or `reset`. Empty where other processes make steps, too.
  const CallLog& call_log() const { return call_log_; }
  /// For `before` of a batch: the step was made already, as a trial, and counts from now on.
  void adopt_step(SubsystemId s, Time reached, std::optional<Time> stopped_at);
  /// A step that was made without the executor, to this time.
  void note_step(SubsystemId s, Time reached);
  /// Throws where an output is not finite.
  void check_outputs(SubsystemId s, Time t) const;
  /// The subsystem that asked to end the run, if one did: the earliest, and the first of those.
  std::optional<SubsystemId> stop_request() const { return stop_request_; }
  void request_stop(SubsystemId s);
  void forget_stop_request() { stop_request_.reset(); }
  /// Everything but the subsystem's own state and its signals.
  void restore(SubsystemId s, Time t, const CoupledSystem::Counters& counters);
  void reset();

  /// Why a step was rejected, as an error.
  Error rejection(SubsystemId s) const;
  /// Handles events that others do not wait for; borrowed.
  void handle_alone_by(EventPhase& events) { events_ = &events; }

 private:
  /// What a step under held inputs touches of a participant, apart from it so that many fit into a cache.
  struct HeldPart {
    HeldStep step;
    const double* inputs;
    double* outputs;

    const StepReport* make(Time from, Duration size) const {
      return step.function(step.context, from, size, inputs, outputs);
    }
  };
  using Clock = CallLog::Clock;

  bool begin(std::size_t task);
  void make(std::size_t task);
  bool is_for_pool(SubsystemId s) const { return !participants_[s].calling_thread; }
  void share_out(std::span<const SubsystemId> batch, base::FunctionRef<void(std::size_t)> work);
  void make_step(std::size_t task);
  [[gnu::noinline]] void open_section();
  [[gnu::noinline]] void follow_others();
  std::uint64_t decision() const;
  bool is_elsewhere(SubsystemId s) const { return !is_here(s); }
  void step(const StepTask& task, Participant& participant);
  void end(std::size_t task, bool made);
  void post_split(std::size_t task);
  void wait_for_split();
  StepReadings readings(std::size_t task) const {
    return batch_.readings.empty() ? StepReadings{} : batch_.readings[task];
  }
  [[gnu::noinline]] void go_on(const StepTask& task, Participant& participant, const StepReport& report);
  void make_calls(const StepTask& task, Participant& participant, StepCalls& calls);
  bool handle_event_alone(const StepTask& task, StepCalls& calls);
  void take_result(Participant& participant, const StepCalls& calls);
  void note_failure(SubsystemId s);
  void settle_batch();
  void settle(SubsystemId s);
  void require_no_batch() const;
  bool is_timed(SubsystemId s) const;
  bool is_timed(const StepTask& task) const;
  void add_time(const StepTask& task, Clock::duration taken);
  /// It is timed, or its time goes into the log.
  bool reads_clock(const StepTask& task) const { return logs_ || is_timed(task); }
  [[gnu::noinline]] void note_batch();
  void add_times(const StepTask& task, Clock::time_point begun, Clock::time_point ended);
  void rank_by_load();
  /// The caller makes all steps: one thread, or one task.
  bool on_caller() const { return pool_.threads() == 1 || batch_.tasks.size() < 2; }

  [[gnu::noinline]] void run_shared(const CommonStep& common, bool timed);
  void make_shared_step(std::size_t s, const CommonStep& common);
  void make_timed_step(std::size_t s, const CommonStep& common);
  void share_times();
  void settle_unusual(const CommonStep& common, std::span<const SubsystemId> unusual);
  void make_held_steps(const HeldPart* first, const HeldPart* end, const CommonStep& common);
  [[gnu::noinline]] void go_on(const HeldPart& part, const CommonStep& common, const StepReport& report);
  [[gnu::noinline]] void run_at_length(const CommonStep& common);
  [[gnu::noinline]] void settle_common_step(Time reached);
  SubsystemId subsystem_of(const HeldPart& part) const {
    return SubsystemId{static_cast<std::size_t>(&part - held_parts_.data())};
  }
  void spread_common_steps();
  [[gnu::noinline]] bool each_at(Time t) const;
  [[noreturn]] void throw_not_finite(SubsystemId s, Time t) const;

  const Graph& graph_;
  SignalStore& store_;
  std::vector<Participant> participants_;
  std::vector<HeldPart> held_parts_;  // of everyone
  bool all_held_ = true;              // every one of them has a function
  bool any_split_ = false;
  bool any_calling_thread_ = false;
  CallLog call_log_;
  bool short_way_ = false;            // every one has a function, and the log is full
  bool logs_ = true;                  // it has room, as the batch under way begins
  std::uint64_t batches_ = 0;         // logged
  std::vector<Time> times_;           // latest communication times ...
  std::vector<std::uint64_t> steps_;  // ... and steps made up to there
  std::uint64_t common_steps_ = 0;    // made by everyone since ...
  Time common_time_ = 0.0;            // ... and the time they led to
  std::atomic<bool> trouble_{false};  // in the batch under way: a failure, a rejection, a wish to stop
  std::optional<SubsystemId> stop_request_;
  EventPhase* events_ = nullptr;
  SharedCalls* shared_ = nullptr;
  std::vector<SubsystemId> section_;  // the batch, for them
  /// What a step under held inputs brought here, where it did not just end.
  struct Unusual {
    SubsystemId subsystem;
    StepReport report;
    std::exception_ptr failure;
  };
  std::vector<Unusual> unusual_;
  std::mutex unusual_mutex_;
  bool all_shared_held_ = false;  // everyone makes such steps, wherever it lives
  std::vector<double> seconds_;   // by subsystem, of a shared step that is timed
  std::vector<std::uint32_t> here_;

  // The batch under way.
  bool under_way_ = false;
  StepBatch batch_;
  std::vector<StepTask> posted_tasks_;  // of a caller outside
  /// A step that another process makes.
  struct Remote {
    std::size_t task = 0;
    std::optional<StepCalls> calls;  // none where nothing is to be stepped, or posting failed
    Clock::time_point posted = {};
    Clock::duration taken = {};
  };
  std::vector<Remote> remote_;
  std::vector<StepTask> common_tasks_;  // of everyone
  std::vector<std::uint32_t> by_load_;  // everyone, as threads take them
  std::uint64_t ranked_batches_ = 0;
  std::uint64_t next_ranking_ = 1;
  base::ThreadPool pool_;  // ends first: its threads use all of the above
};

}  // namespace entrain::coupling
