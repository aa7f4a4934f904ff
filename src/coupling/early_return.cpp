// Steps of several subsystems to the first event that one of them finds on its way.
#include <algorithm>

#include "base/finally.hpp"
#include "coupling/engine.hpp"

namespace entrain::coupling {
namespace {

StepTask shortened(StepTask task, Time to) {
  if (to >= task.to) return task;
  task.size = to - task.from;
  task.to = to;
  return task;
}

}  // namespace

/// Those that may find an event step first, one after the other; the others only to where these got. First those that
/// can be taken back when another finds one earlier, then those whose events others hear. An event of one that comes
/// after a subsystem that cannot be taken back is handled alone, and reported.
Time Engine::commit_to_event(std::span<StepTask> tasks) {
  std::vector<StepTask> finders;
  std::vector<StepTask> followers;
  for (const StepTask& task : tasks) (events_->finds_events(task.subsystem) ? finders : followers).push_back(task);
  const auto goes_back = [this](const StepTask& task) { return facets(task.subsystem).rollback != nullptr; };
  const auto rank = [&](const StepTask& task) {
    return goes_back(task) ? 0 : events_->is_heard(task.subsystem) ? 1 : 2;
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
    const StepTask step = shortened(finders[i], end);
    executor_.run({.tasks = std::span(&step, 1), .ends_at_events = all_go_back});
    const auto found = executor_.of(step.subsystem).result.event_at;
    if (!found || !(*found < end)) continue;
    end = *found;
    for (std::size_t k = 0; k < i; ++k) {
      restore(before[k]);
      const StepTask again = shortened(finders[k], end);
      if (again.size > 0.0) executor_.run({.tasks = std::span(&again, 1), .ends_at_events = true});
    }
  }
  for (StepTask& task : followers) task = shortened(task, end);
  if (!followers.empty() && end > followers.front().from) executor_.run({.tasks = followers});
  for (StepTask& task : tasks) task = shortened(task, end);
  return end;
}

}  // namespace entrain::coupling
