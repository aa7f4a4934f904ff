// Steps of several subsystems to the first event that one of them finds on its way.
#include <algorithm>
#include <exception>
#include <functional>

#include "base/finally.hpp"
#include "base/grid.hpp"
#include "coupling/engine.hpp"
#include "numerics/polynomial.hpp"

namespace entrain::coupling {
namespace {

StepTask shortened(StepTask task, Time to) {
  if (to >= task.to) return task;
  task.size = to - task.from;
  task.to = to;
  return task;
}

/// A step that is made in pieces, while another subsystem makes its own. The inputs are those of the whole.
class StepInPieces {
 public:
  StepInPieces(SignalStore& store, const StepTask& whole)
      : whole_(whole), slots_(store.slots(whole.subsystem)), reached_(whole.from) {
    if (whole_.degree > 0) whole_inputs_.assign(slots_.coefficients, slots_.coefficients + numbers());
  }
  StepInPieces(const StepInPieces&) = delete;
  StepInPieces(StepInPieces&&) = default;
  StepInPieces& operator=(const StepInPieces&) = delete;
  StepInPieces& operator=(StepInPieces&&) = delete;
  ~StepInPieces() { std::copy(whole_inputs_.begin(), whole_inputs_.end(), slots_.coefficients); }

  SubsystemId subsystem() const { return whole_.subsystem; }
  Time reached() const { return reached_; }
  /// It found an event, or asks to end the run, at `reached`.
  bool waits() const { return waits_; }
  void go_on() { waits_ = false; }

  void step(StepExecutor& executor, Time to) {
    StepTask piece = whole_;
    piece.from = reached_;
    piece.size = to - reached_;
    piece.to = to;
    if (whole_.degree > 0) {
      std::copy(whole_inputs_.begin(), whole_inputs_.end(), slots_.coefficients);
      numerics::shift_origin({slots_.coefficients, slots_.inputs.size(), whole_.degree}, reached_ - whole_.from);
    }
    const std::optional<Time> ended = executor.step_inside(piece);
    reached_ = ended.value_or(to);
    waits_ = ended || executor.subsystem(whole_.subsystem).facets().event_mode->event_waits();
  }

 private:
  std::size_t numbers() const { return slots_.inputs.size() * static_cast<std::size_t>(whole_.degree + 1); }

  StepTask whole_;
  SignalStore::Slots slots_;
  Time reached_;
  bool waits_ = false;
  std::vector<double> whole_inputs_;  ///< coefficients; empty where inputs are held
};

}  // namespace

/// Those that may find an event step first, one after the other; the others only to where these got. First those that
/// can be taken back when another finds one earlier, then those whose steps can be ended from inside, then those whose
/// events others hear. An event of one that comes after a subsystem that cannot be taken back is handled alone, and
/// reported.
Time Engine::commit_to_event(std::span<StepTask> tasks) {
  std::vector<StepTask> finders;
  std::vector<StepTask> followers;
  for (const StepTask& task : tasks) (events_->finds_events(task.subsystem) ? finders : followers).push_back(task);
  const auto goes_back = [this](const StepTask& task) { return facets(task.subsystem).rollback != nullptr; };
  const auto can_be_ended = [this](const StepTask& task) {
    return facets(task.subsystem).event_mode->watch_steps(nullptr);
  };
  const auto rank = [&](const StepTask& task) {
    return goes_back(task) ? 0 : can_be_ended(task) ? 1 : events_->is_heard(task.subsystem) ? 2 : 3;
  };
  std::stable_sort(finders.begin(), finders.end(),
                   [&](const StepTask& a, const StepTask& b) { return rank(a) < rank(b); });
  std::vector<Saved> before;
  const base::Finally release([&] {
    for (const auto& saved : before) this->release(saved);
  });
  Time end = tasks.empty() ? 0.0 : tasks.front().to;
  for (std::size_t i = 0; i < finders.size(); ++i) {
    const bool all_go_back = before.size() == i;
    const bool saves = all_go_back && goes_back(finders[i]) && i + 1 < finders.size();
    if (saves) save(std::span(&finders[i].subsystem, 1), before.emplace_back());
    const bool leads = all_go_back && !saves && i + 1 < finders.size() && can_be_ended(finders[i]);
    const StepTask step = shortened(finders[i], end);
    if (leads) {
      end = lead(step, std::span(finders).subspan(i + 1));
    } else {
      executor_.run({.tasks = std::span(&step, 1), .ends_at_events = all_go_back});
      end = std::min(end, executor_.of(step.subsystem).result.event_at.value_or(end));
    }
    if (end < step.to) {
      for (std::size_t k = 0; k < std::min(i, before.size()); ++k) {
        restore(before[k]);
        const StepTask again = shortened(finders[k], end);
        if (again.size > 0.0) executor_.run({.tasks = std::span(&again, 1), .ends_at_events = true});
      }
    }
    if (leads) break;
  }
  for (StepTask& task : followers) task = shortened(task, end);
  if (!followers.empty() && end > followers.front().from) executor_.run({.tasks = followers});
  for (StepTask& task : tasks) task = shortened(task, end);
  return end;
}

/// Makes the step of one that asks inside it whether to go on (intermediate update of FMI 3), and those of `others`
/// piece by piece behind it: when one of them finds an event, the step ends where it is. Returns where all of them got.
/// Those that are late nevertheless, because the event lay between two questions, handle it alone.
Time Engine::lead(const StepTask& leader, std::span<const StepTask> others) {
  std::vector<StepInPieces> behind;
  behind.reserve(others.size());
  for (const StepTask& task : others) behind.emplace_back(store_, shortened(task, leader.to));
  std::exception_ptr failure;
  const std::function<bool(Time)> watch = [&](Time t) {
    if (!(t > leader.from && t < leader.to)) return false;
    try {
      for (auto& other : behind) {
        if (!other.waits() && t > other.reached()) other.step(executor_, t);
      }
    } catch (...) {  // must not pass through the code of the leader
      failure = std::current_exception();
    }
    return failure != nullptr ||
           std::any_of(behind.begin(), behind.end(), [](const StepInPieces& other) { return other.waits(); });
  };
  EventMode& mode = *facets(leader.subsystem).event_mode;
  {
    mode.watch_steps(&watch);
    const base::Finally forget([&] { mode.watch_steps(nullptr); });
    executor_.run({.tasks = std::span(&leader, 1), .ends_at_events = true});
  }
  if (failure) std::rethrow_exception(failure);
  const Time end = executor_.of(leader.subsystem).result.event_at.value_or(leader.to);
  for (auto& other : behind) {
    while (!base::reached(other.reached(), end) && !executor_.stop_request()) {
      if (other.waits()) {
        if (events_->handle_alone(other.subsystem(), other.reached())) executor_.request_stop(other.subsystem());
        other.go_on();
      } else {
        other.step(executor_, end);
      }
    }
  }
  return end;
}

}  // namespace entrain::coupling
