#include "coupling/step_executor.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "coupling/event_phase.hpp"
#include "coupling/not_finite.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/foreign_calls.hpp"

namespace entrain::coupling {
namespace {

// Two clock reads cost as much as the step of a light subsystem, so one step in 64 is timed.
constexpr std::uint64_t kTimingMask = 63;

[[gnu::always_inline]] inline bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

/// Of what is about to be done: the same numbers, the same sum.
class DecisionSum {
 public:
  explicit DecisionSum(std::uint64_t first) : sum_(first) {}
  void add(double number) { sum_ = mixed(sum_, std::bit_cast<std::uint64_t>(number)); }
  /// In four sums side by side: a multiplication waits for the one before it.
  void add(std::span<const double> numbers) {
    std::array<std::uint64_t, 4> lanes{1, 2, 3, 4};
    std::size_t i = 0;
    for (; i + lanes.size() <= numbers.size(); i += lanes.size()) {
      for (std::size_t k = 0; k < lanes.size(); ++k)
        lanes[k] = mixed(lanes[k], std::bit_cast<std::uint64_t>(numbers[i + k]));
    }
    for (; i < numbers.size(); ++i) add(numbers[i]);
    for (const std::uint64_t lane : lanes) sum_ = mixed(sum_, lane);
  }
  std::uint64_t value() const { return sum_; }

 private:
  static std::uint64_t mixed(std::uint64_t sum, std::uint64_t bits) {
    sum = (sum ^ bits) * 0x9E3779B97F4A7C15U;
    return sum ^ (sum >> 29U);
  }

  std::uint64_t sum_;
};

/// With a value more, such as "FMU 'prey.fmu', by fmi2GetReal", unless it is empty.
Fact with_text(Fact fact, std::string_view name, std::string text) {
  if (!text.empty()) fact.values.emplace_back(name, std::move(text));
  return fact;
}

}  // namespace

StepExecutor::StepExecutor(const Graph& graph, SignalStore& store, std::vector<std::unique_ptr<Subsystem>> subsystems,
                           int threads, SharedCalls* shared)
    : graph_(graph),
      store_(store),
      call_log_(subsystems.size()),
      logs_(shared == nullptr),
      times_(subsystems.size(), 0.0),
      steps_(subsystems.size(), 0),
      shared_(shared),
      pool_(std::min(threads, static_cast<int>(subsystems.size()))) {
  for (auto& subsystem : subsystems) {
    const SubsystemId id{participants_.size()};
    auto& participant = participants_.emplace_back();
    participant.step.slots = store.slots(id);
    participant.step.input_degree = subsystem->capabilities().input_degree;
    participant.step.substeps = subsystem->capabilities().substeps;
    participant.step.part_coefficients.resize(SignalStore::kOrders * subsystem->variables().inputs.size());
    participant.split = subsystem->facets().split;
    participant.made_apart = participant.split != nullptr || is_elsewhere(id);
    participant.calling_thread = subsystem->capabilities().calling_thread;
    any_calling_thread_ = any_calling_thread_ || participant.calling_thread;
    const bool has_short_path = participant.split == nullptr && !participant.calling_thread;
    const HeldStep held = has_short_path ? subsystem->held_step() : HeldStep{};
    held_parts_.push_back({held, participant.inputs().data(), participant.outputs().data()});
    all_held_ = all_held_ && held.function != nullptr && shared == nullptr;
    all_shared_held_ = (id == 0 || all_shared_held_) && held.function != nullptr && shared != nullptr;
    if (!is_elsewhere(id)) here_.push_back(static_cast<std::uint32_t>(id));
    any_split_ = any_split_ || participant.split != nullptr;
    participant.subsystem = std::move(subsystem);
    by_load_.push_back(static_cast<std::uint32_t>(common_tasks_.size()));
    common_tasks_.push_back({.subsystem = id});
  }
  if (shared_ == nullptr) return;
  std::vector<std::size_t> first_outputs;
  for (std::size_t s = 0; s < size(); ++s) first_outputs.push_back(graph.outputs_of(SubsystemId{s}).first);
  first_outputs.push_back(graph.outputs());
  shared_->lay_out(first_outputs);
  seconds_.resize(size());
}

void StepExecutor::divide_steps(SubsystemId s, int calls) {
  require_no_batch();
  participants_[s].step.divided = calls;
  held_parts_[s].step = {};
  all_held_ = short_way_ = false;
  all_shared_held_ = false;
}

void StepExecutor::use_threads(int threads) {
  require_no_batch();
  pool_.set_threads(std::min(threads, static_cast<int>(size())));
}

void StepExecutor::require_no_batch() const {
  if (under_way_) {
    throw Error(ErrorCode::SolverFailed, {FactCode::BatchUnderWay},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Call wait before the next batch"});
  }
}

void StepExecutor::post(std::span<const StepTask> tasks) {
  require_no_batch();
  posted_tasks_.assign(tasks.begin(), tasks.end());
  post(StepBatch{.tasks = posted_tasks_});
}

void StepExecutor::post(const StepBatch& batch) {
  require_no_batch();
  batch_ = batch;
  under_way_ = true;
  if (batch.purpose == StepBatch::Purpose::Commit) spread_common_steps();
  remote_.clear();
  if (logs_) note_batch();
  if (shared_ != nullptr) open_section();
  if (any_split_) {
    for (std::size_t i = 0; i < batch.tasks.size(); ++i) {
      if (participants_[batch.tasks[i].subsystem].split != nullptr) post_split(i);
    }
  }
  if (on_caller()) return;
  pool_.post(
      batch.tasks.size(),
      [](void* context, std::size_t i) {
        auto& self = *static_cast<StepExecutor*>(context);
        const std::size_t task = self.batch_.tasks.size() == self.size() ? self.by_load_[i] : i;
        if (self.is_for_pool(self.batch_.tasks[task].subsystem)) self.make(task);
      },
      this);
}

void StepExecutor::wait() {
  if (!std::exchange(under_way_, false)) return;
  if (on_caller()) {
    for (std::size_t i = 0; i < batch_.tasks.size(); ++i) make(i);
  } else {
    for (std::size_t i = 0; any_calling_thread_ && i < batch_.tasks.size(); ++i) {
      if (!is_for_pool(batch_.tasks[i].subsystem)) make(i);
    }
    pool_.wait();
    if (batch_.tasks.size() == size()) rank_by_load();
  }
  if (!remote_.empty()) wait_for_split();
  if (shared_ != nullptr) follow_others();
  if (trouble_.exchange(false, std::memory_order_relaxed)) settle_batch();
}

/// Heaviest first, so that no thread begins the longest step when the others have nothing left. Less and less often:
/// after 1, 2, 4, ... batches.
void StepExecutor::rank_by_load() {
  if (++ranked_batches_ < next_ranking_) return;
  next_ranking_ *= 2;
  const auto load = [this](std::uint32_t s) {
    const auto& counters = participants_[s].counters;
    return counters.sampled_steps == 0 ? counters.first_seconds
                                       : counters.sampled_seconds / static_cast<double>(counters.sampled_steps);
  };
  std::sort(by_load_.begin(), by_load_.end(), [&](std::uint32_t a, std::uint32_t b) { return load(a) > load(b); });
}

/// The first in the order of the batch is reported; what else failed is forgotten with it.
void StepExecutor::settle_batch() {
  try {
    for (const StepTask& task : batch_.tasks) settle(task.subsystem);
  } catch (...) {
    for (const StepTask& task : batch_.tasks) participants_[task.subsystem].failure = nullptr;
    throw;
  }
}

void StepExecutor::open_section() {
  section_.clear();
  for (const StepTask& task : batch_.tasks) section_.push_back(task.subsystem);
  shared_->open(decision(), section_);
}

/// Steps that were made elsewhere: what they brought is here by now.
void StepExecutor::follow_others() {
  shared_->exchange();
  for (std::size_t i = 0; i < batch_.tasks.size(); ++i) {
    if (is_elsewhere(batch_.tasks[i].subsystem)) make_step(i);
  }
  shared_->close();
}

/// Of the batch under way: which steps, and under which inputs.
std::uint64_t StepExecutor::decision() const {
  DecisionSum sum(batch_.tasks.size() * 2 + (batch_.purpose == StepBatch::Purpose::Trial ? 1 : 0));
  for (const StepTask& task : batch_.tasks) {
    sum.add(static_cast<double>(task.subsystem * 64 + static_cast<std::size_t>(task.degree)));
    sum.add(task.from);
    sum.add(task.size);
    const auto& slots = participants_[task.subsystem].step.slots;
    const auto inputs = task.degree == 0 ? std::span<const double>(slots.inputs)
                                         : std::span<const double>(slots.coefficients, slots.inputs.size());
    for (const double input : inputs) sum.add(input);
  }
  return sum.value();
}

/// A step in this process, on the thread that came by.
void StepExecutor::make(std::size_t i) {
  if (!participants_[batch_.tasks[i].subsystem].made_apart) make_step(i);
}

void StepExecutor::make_step(std::size_t i) {
  const StepTask& task = batch_.tasks[i];
  Participant& participant = participants_[task.subsystem];
  bool made = false;
  try {
    if (begin(i)) {
      if (reads_clock(task)) {
        const auto started = Clock::now();
        step(task, participant);
        add_times(task, started, Clock::now());
      } else {
        step(task, participant);
      }
      made = true;
    }
  } catch (...) {
    note_failure(task.subsystem);
  }
  end(i, made);
}

/// True when a step is to be made.
bool StepExecutor::begin(std::size_t i) {
  Participant& participant = participants_[batch_.tasks[i].subsystem];
  participant.result = {};
  if (batch_.before && !(*batch_.before)(i)) return false;
  if (batch_.purpose == StepBatch::Purpose::Trial) ++participant.counters.trials;
  return true;
}

void StepExecutor::step(const StepTask& task, Participant& participant) {
  const bool in_one_call = task.parts == 1 && task.degree <= participant.step.input_degree;
  if (const HeldPart& part = held_parts_[task.subsystem];
      in_one_call && task.degree == 0 && part.step.function != nullptr && shared_ == nullptr) {
    participant.step.last_part = 0.0;
    const StepReport* unusual = part.make(task.from, task.size);
    if (unusual != nullptr) go_on(task, participant, *unusual);
    return;
  }
  StepCalls calls(task, participant.subsystem->capabilities(), participant.step);
  make_calls(task, participant, calls);
}

void StepExecutor::make_calls(const StepTask& task, Participant& participant, StepCalls& calls) {
  for (;;) {
    while (!calls.done()) calls.take(participant.subsystem->step(calls.next(), participant.outputs()));
    if (!handle_event_alone(task, calls)) break;
  }
  take_result(participant, calls);
}

std::optional<Time> StepExecutor::step_inside(const StepTask& task) {
  Participant& participant = participants_[task.subsystem];
  StepCalls calls(task, participant.subsystem->capabilities(), participant.step);
  while (!calls.done()) calls.take(participant.subsystem->step(calls.next(), participant.outputs()));
  const StepResult& result = participant.result = calls.result();
  participant.counters.early_returns += static_cast<std::uint64_t>(calls.early_returns());
  if (result.outcome == StepOutcome::Rejected) throw rejection(task.subsystem);
  const std::optional<Time> ended = result.stopped_at ? result.stopped_at : result.event_at;
  note_step(task.subsystem, ended.value_or(task.to));
  if (result.stopped_at) request_stop(task.subsystem);
  return ended;
}

/// After the calls of a step. True when they ended at an event, and are to go on behind it as far as they are not done.
bool StepExecutor::handle_event_alone(const StepTask& task, StepCalls& calls) {
  if (!calls.result().event_at || batch_.ends_at_events) return false;
  if (events_->handle_alone(task.subsystem, *calls.result().event_at)) {
    calls.stop_at_event();
  } else {
    calls.go_on_after_event();
  }
  return true;
}

/// After the first call, which ended early, was rejected or asked to stop.
void StepExecutor::go_on(const StepTask& task, Participant& participant, const StepReport& report) {
  StepCalls calls(task, participant.subsystem->capabilities(), participant.step);
  static_cast<void>(calls.next());
  calls.take(report);
  make_calls(task, participant, calls);
}

void StepExecutor::take_result(Participant& participant, const StepCalls& calls) {
  participant.result = calls.result();
  participant.counters.early_returns += static_cast<std::uint64_t>(calls.early_returns());
  if (participant.result.outcome == StepOutcome::Rejected || participant.result.stopped_at) {
    trouble_.store(true, std::memory_order_relaxed);
  }
}

void StepExecutor::end(std::size_t i, bool made) {
  const StepTask& task = batch_.tasks[i];
  Participant& participant = participants_[task.subsystem];
  try {
    if (made && batch_.purpose == StepBatch::Purpose::Commit && participant.result.outcome != StepOutcome::Rejected) {
      note_step(task.subsystem, participant.result.event_at.value_or(task.to));
    }
  } catch (...) {
    note_failure(task.subsystem);
  }
  if (!batch_.after) return;
  try {
    (*batch_.after)(i);
  } catch (...) {
    note_failure(task.subsystem);
  }
}

void StepExecutor::post_split(std::size_t i) {
  const StepTask& task = batch_.tasks[i];
  Participant& participant = participants_[task.subsystem];
  Remote& remote = remote_.emplace_back();
  remote.task = i;
  try {
    if (!begin(i)) return;
    remote.calls.emplace(task, participant.subsystem->capabilities(), participant.step);
    remote.posted = Clock::now();
    if (!remote.calls->done()) participant.split->post(remote.calls->next(), readings(i));
  } catch (...) {
    remote.calls.reset();
    note_failure(task.subsystem);
  }
}

/// Round by round: all compute at the same time, also where a step takes several calls.
void StepExecutor::wait_for_split() {
  for (bool under_way = true; under_way;) {
    under_way = false;
    for (Remote& remote : remote_) {
      if (!remote.calls || remote.calls->done()) continue;
      const StepTask& task = batch_.tasks[remote.task];
      Participant& participant = participants_[task.subsystem];
      try {
        remote.calls->take(participant.split->wait(participant.outputs()));
        remote.taken = Clock::now() - remote.posted;
        if (remote.calls->done()) handle_event_alone(task, *remote.calls);
        if (remote.calls->done()) continue;
        participant.split->post(remote.calls->next(), readings(remote.task));
        under_way = true;
      } catch (...) {
        remote.calls.reset();
        note_failure(task.subsystem);
      }
    }
  }
  for (Remote& remote : remote_) {
    const StepTask& task = batch_.tasks[remote.task];
    if (remote.calls) {
      if (reads_clock(task)) add_times(task, remote.posted, remote.posted + remote.taken);
      take_result(participants_[task.subsystem], *remote.calls);
    }
    end(remote.task, remote.calls.has_value());
  }
}

void StepExecutor::note_failure(SubsystemId s) {
  participants_[s].failure = std::current_exception();
  trouble_.store(true, std::memory_order_relaxed);
}

/// What a trial brought besides a failure is the caller's concern.
void StepExecutor::settle(SubsystemId s) {
  auto& participant = participants_[s];
  if (participant.failure) std::rethrow_exception(std::exchange(participant.failure, nullptr));
  if (batch_.purpose == StepBatch::Purpose::Trial) return;
  if (participant.result.outcome == StepOutcome::Rejected) throw rejection(s);
  if (!participant.result.stopped_at) return;
  times_[s] = *participant.result.stopped_at;
  request_stop(s);
}

Error StepExecutor::rejection(SubsystemId s) const {
  const Subsystem& subsystem = *participants_[s].subsystem;
  const StepResult& result = participants_[s].result;
  return {ErrorCode::SubsystemFailed,
          with_text({FactCode::StepRejected, {std::string(subsystem.name())}, {{"step", result.rejected_size, "s"}}},
                    "why", subsystem::refusal_of(subsystem)),
          {.subsystem = std::string(subsystem.name()),
           .variable = {},
           .time = result.rejected_from,
           .remedy = "Choose a smaller step"}};
}

bool StepExecutor::is_timed(SubsystemId s) const {
  return ((steps_[s] + common_steps_) & kTimingMask) == 0;
}

bool StepExecutor::is_timed(const StepTask& task) const {
  if (batch_.timed) return *batch_.timed;
  if (batch_.purpose == StepBatch::Purpose::Commit) return is_timed(task.subsystem);
  return ((participants_[task.subsystem].counters.trials - 1) & kTimingMask) == 0;
}

void StepExecutor::add_time(const StepTask& task, Clock::duration taken) {
  auto& counters = participants_[task.subsystem].counters;
  double seconds = std::chrono::duration<double>(taken).count();
  if (shared_ != nullptr) seconds = shared_->number_of(task.subsystem, seconds);
  if (batch_.purpose == StepBatch::Purpose::Trial) {
    counters.trial_seconds += seconds;
    ++counters.sampled_trials;
  } else if (steps_[task.subsystem] == 0) {
    counters.first_seconds = seconds;
  } else {
    counters.sampled_seconds += seconds;
    ++counters.sampled_steps;
  }
}

void StepExecutor::add_times(const StepTask& task, Clock::time_point begun, Clock::time_point ended) {
  if (is_timed(task)) add_time(task, ended - begun);
  if (!logs_) return;
  const bool trial = batch_.purpose == StepBatch::Purpose::Trial;
  call_log_.add({task.subsystem, batches_, trial, task.from, task.size, begun, ended});
}

/// What has begun within the log is logged to its end.
void StepExecutor::note_batch() {
  ++batches_;
  logs_ = call_log_.has_room();
  short_way_ = all_held_ && !logs_;
}

void StepExecutor::run(const CommonStep& common) {
  if (under_way_) require_no_batch();
  if (all_shared_held_) {
    const bool timed = is_timed(SubsystemId{0});
    const bool is_first = steps_[0] + common_steps_ == 0;  // counted apart
    if (!timed || (!is_first && !logs_)) return run_shared(common, timed);
  }
  if (!short_way_ || is_timed(SubsystemId{0})) return run_at_length(common);
  const HeldPart* first = held_parts_.data();
  if (pool_.threads() == 1) {
    make_held_steps(first, first + held_parts_.size(), common);
  } else {
    pool_.for_each(size(), [&](std::size_t i) {
      const HeldPart* part = first + by_load_[i];
      make_held_steps(part, part + 1, common);
    });
    rank_by_load();
  }
  if (trouble_.load(std::memory_order_relaxed)) return settle_common_step(common.to);
  ++common_steps_;
  common_time_ = common.to;
  if (all_finite(store_.outputs())) return;
  for (std::size_t s = 0; s < size(); ++s) check_outputs(SubsystemId{s}, common.to);
}

/// Of subsystems in several processes: no call is recorded unless something happens.
void StepExecutor::run_shared(const CommonStep& common, bool timed) {
  unusual_.clear();
  if (pool_.threads() == 1 && !timed) {
    for (const std::uint32_t s : here_) make_shared_step(s, common);
  } else {
    pool_.for_each(here_.size(), [&](std::size_t i) {
      timed ? make_timed_step(here_[i], common) : make_shared_step(here_[i], common);
    });
    std::sort(unusual_.begin(), unusual_.end(),
              [](const Unusual& a, const Unusual& b) { return a.subsystem < b.subsystem; });
  }
  section_.clear();
  for (const Unusual& each : unusual_) section_.push_back(each.subsystem);
  DecisionSum sum(size());
  for (const double number : {common.from, common.size, common.to}) sum.add(number);
  sum.add(store_.inputs());
  const auto unusual = shared_->exchange_outputs(sum.value(), store_.signals().first(graph_.outputs()), section_);
  if (timed) share_times();
  if (!unusual.empty()) return settle_unusual(common, unusual);
  ++common_steps_;
  common_time_ = common.to;
  if (all_finite(store_.outputs())) return;
  for (std::size_t s = 0; s < size(); ++s) check_outputs(SubsystemId{s}, common.to);
}

void StepExecutor::make_shared_step(std::size_t s, const CommonStep& common) {
  const HeldPart& part = held_parts_[s];
  try {
    const StepReport* unusual = part.make(common.from, common.size);
    if (unusual == nullptr) return;
    const std::lock_guard lock(unusual_mutex_);
    unusual_.push_back({SubsystemId{s}, *unusual, nullptr});
  } catch (...) {
    const std::lock_guard lock(unusual_mutex_);
    unusual_.push_back({SubsystemId{s}, {}, std::current_exception()});
  }
}

void StepExecutor::make_timed_step(std::size_t s, const CommonStep& common) {
  const auto begun = Clock::now();
  make_shared_step(s, common);
  seconds_[s] = std::chrono::duration<double>(Clock::now() - begun).count();
}

void StepExecutor::share_times() {
  shared_->exchange_numbers(size(), seconds_);
  for (std::size_t s = 0; s < size(); ++s) {
    participants_[s].counters.sampled_seconds += seconds_[s];
    ++participants_[s].counters.sampled_steps;
  }
}

/// As in one process, from what each step brought on.
void StepExecutor::settle_unusual(const CommonStep& common, std::span<const SubsystemId> unusual) {
  const std::vector<SubsystemId> batch(unusual.begin(), unusual.end());
  const auto go_on_with = [&](SubsystemId s) {
    participants_[s].result = {};
    try {
      const StepReport report = shared_->report_of(s, [&] {
        const auto own =
            std::find_if(unusual_.begin(), unusual_.end(), [&](const Unusual& each) { return each.subsystem == s; });
        if (own->failure) std::rethrow_exception(own->failure);
        return own->report;
      });
      go_on(held_parts_[s], common, report);
    } catch (...) {
      note_failure(s);
    }
  };
  shared_->open(batch.size(), batch);
  for (const SubsystemId s : batch) {
    if (!is_elsewhere(s)) go_on_with(s);
  }
  shared_->exchange();
  for (const SubsystemId s : batch) {
    if (is_elsewhere(s)) go_on_with(s);
  }
  shared_->close();
  settle_common_step(common.to);
}

/// A step that fails or ends unusually is settled, and the others go on from there.
inline void StepExecutor::make_held_steps(const HeldPart* first, const HeldPart* end, const CommonStep& common) {
  for (const HeldPart* part = first; part != end; ++part) {
    try {
      const StepReport* unusual = part->make(common.from, common.size);
      if (unusual != nullptr) go_on(*part, common, *unusual);
    } catch (...) {
      note_failure(subsystem_of(*part));
    }
  }
}

void StepExecutor::go_on(const HeldPart& part, const CommonStep& common, const StepReport& report) {
  const SubsystemId s = subsystem_of(part);
  go_on({s, common.from, common.size, 0, 1, common.to}, participants_[s], report);
}

/// Timed when the first one is: all of them, so that those with another number of steps are timed as well.
void StepExecutor::run_at_length(const CommonStep& common) {
  for (StepTask& task : common_tasks_) task = {task.subsystem, common.from, common.size, 0, 1, common.to};
  post({.tasks = common_tasks_, .timed = is_timed(SubsystemId{0})});
  wait();
}

/// As after a step in which nothing happened, but for those that failed.
void StepExecutor::settle_common_step(Time reached) {
  trouble_ = false;
  batch_ = {};
  spread_common_steps();
  for (std::size_t s = 0; s < size(); ++s) {
    if (participants_[s].failure || participants_[s].result.outcome == StepOutcome::Rejected) continue;
    ++steps_[s];
    times_[s] = reached;
  }
  try {
    for (std::size_t s = 0; s < size(); ++s) {
      settle(SubsystemId{s});
      check_outputs(SubsystemId{s}, reached);
    }
  } catch (...) {
    for (auto& participant : participants_) participant.failure = nullptr;
    throw;
  }
}

/// Before steps and times of one of them change.
void StepExecutor::spread_common_steps() {
  if (common_steps_ == 0) return;
  for (auto& steps : steps_) steps += common_steps_;
  std::fill(times_.begin(), times_.end(), common_time_);
  common_steps_ = 0;
}

void StepExecutor::for_each(std::span<const SubsystemId> batch, base::FunctionRef<void(std::size_t)> work) {
  require_no_batch();
  auto try_work = [&](std::size_t i) {
    try {
      work(i);
    } catch (...) {
      note_failure(batch[i]);
    }
  };
  if (shared_ == nullptr) {
    share_out(batch, try_work);
  } else {
    std::uint64_t decision = ~batch.size();
    for (const SubsystemId s : batch) decision = decision * 31 + static_cast<std::size_t>(s);
    shared_->open(decision, batch);
    share_out(batch, [&](std::size_t i) {
      if (!is_elsewhere(batch[i])) try_work(i);
    });
    shared_->exchange();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (is_elsewhere(batch[i])) try_work(i);
    }
    shared_->close();
  }
  if (!trouble_.exchange(false, std::memory_order_relaxed)) return;
  std::exception_ptr first;
  for (const SubsystemId s : batch) {
    const auto failure = std::exchange(participants_[s].failure, nullptr);
    if (!first) first = failure;
  }
  if (first) std::rethrow_exception(first);
}

/// On all threads, but for what belongs to the calling one.
void StepExecutor::share_out(std::span<const SubsystemId> batch, base::FunctionRef<void(std::size_t)> work) {
  if (!any_calling_thread_ || pool_.threads() == 1) return pool_.for_each(batch.size(), work);
  auto share = [&](std::size_t i) {
    if (is_for_pool(batch[i])) work(i);
  };
  pool_.post(
      batch.size(), [](void* context, std::size_t i) { (*static_cast<decltype(share)*>(context))(i); }, &share);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!is_for_pool(batch[i])) work(i);
  }
  pool_.wait();
}

void StepExecutor::for_everyone(base::FunctionRef<void(SubsystemId)> work) {
  if (shared_ == nullptr) {
    for (std::size_t s = 0; s < size(); ++s) work(SubsystemId{s});
    return;
  }
  section_.clear();
  for (std::size_t s = 0; s < size(); ++s) section_.emplace_back(s);
  shared_->open(~size(), section_);
  std::exception_ptr first;
  const auto try_all = [&](bool elsewhere) {
    for (std::size_t s = 0; s < size(); ++s) {
      try {
        if (is_elsewhere(SubsystemId{s}) == elsewhere) work(SubsystemId{s});
      } catch (...) {
        note_failure(SubsystemId{s});
      }
    }
  };
  try_all(false);
  shared_->exchange();
  try_all(true);
  shared_->close();
  trouble_ = false;
  for (auto& participant : participants_) {
    const auto failure = std::exchange(participant.failure, nullptr);
    if (!first) first = failure;
  }
  if (first) std::rethrow_exception(first);
}

bool StepExecutor::each_at(Time t) const {
  return std::all_of(times_.begin(), times_.end(), [t](Time of_one) { return of_one == t; });
}

std::span<const Time> StepExecutor::times() {
  spread_common_steps();
  return times_;
}

void StepExecutor::set_all_times(Time t) {
  spread_common_steps();
  std::fill(times_.begin(), times_.end(), t);
}

CoupledSystem::Counters StepExecutor::counters(SubsystemId s) const {
  CoupledSystem::Counters counters = participants_[s].counters;
  counters.steps = steps_[s] + common_steps_;
  return counters;
}

void StepExecutor::note_step(SubsystemId s, Time reached) {
  ++steps_[s];
  times_[s] = reached;
  check_outputs(s, reached);
}

void StepExecutor::adopt_step(SubsystemId s, Time reached, std::optional<Time> stopped_at) {
  participants_[s].result.stopped_at = stopped_at;
  if (stopped_at) trouble_.store(true, std::memory_order_relaxed);
  note_step(s, reached);
}

void StepExecutor::request_stop(SubsystemId s) {
  if (!stop_request_ || time_of(s) < time_of(*stop_request_)) stop_request_ = s;
}

void StepExecutor::restore(SubsystemId s, Time t, const CoupledSystem::Counters& counters) {
  spread_common_steps();
  auto& participant = participants_[s];
  participant.result = {};
  participant.counters = counters;
  steps_[s] = counters.steps;
  times_[s] = t;
}

void StepExecutor::reset() {
  for (auto& participant : participants_) {
    participant.counters = {};
    participant.result = {};
    participant.failure = nullptr;
  }
  std::fill(times_.begin(), times_.end(), 0.0);
  std::fill(steps_.begin(), steps_.end(), 0);
  common_steps_ = 0;
  trouble_ = false;
  stop_request_.reset();
  call_log_.clear();
  logs_ = shared_ == nullptr;
  short_way_ = false;
  batches_ = 0;
}

void StepExecutor::check_outputs(SubsystemId s, Time t) const {
  if (!all_finite(participants_[s].outputs())) throw_not_finite(s, t);
}

void StepExecutor::throw_not_finite(SubsystemId s, Time t) const {
  const auto outputs = graph_.outputs_of(s);
  const auto signals = store_.outputs();
  std::size_t first_bad = outputs.first;
  while (std::isfinite(signals[first_bad])) ++first_bad;
  const OutputId culprit{first_bad};
  const double value = signals[culprit];
  throw not_finite(graph_, culprit, value, t,
                   subsystem::reading_of(*participants_[s].subsystem, culprit - outputs.first));
}

}  // namespace entrain::coupling
