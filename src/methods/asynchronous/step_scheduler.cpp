#include "methods/asynchronous/step_scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/grid.hpp"

namespace entrain::method {
namespace {

// A remainder below this share of a step is rounding, not a step (as in Grid).
constexpr double kRounding = 1e-9;

}  // namespace

StepScheduler::Lists StepScheduler::make_lists(std::vector<std::vector<SubsystemId>>& ids) {
  Lists lists;
  lists.first.push_back(0);
  for (auto& of_one : ids) {
    std::sort(of_one.begin(), of_one.end());
    of_one.erase(std::unique(of_one.begin(), of_one.end()), of_one.end());
    lists.ids.insert(lists.ids.end(), of_one.begin(), of_one.end());
    lists.first.push_back(lists.ids.size());
  }
  return lists;
}

void StepScheduler::start(const Graph& graph, std::vector<Constraints> constraints, Time start, Time stop) {
  const std::size_t size = graph.subsystems();
  constraints_ = std::move(constraints);
  start_ = start;
  stop_ = stop;
  memory_.end.assign(size, kNever);
  memory_.count.assign(size, 0);
  planning_.assign(size, 0);
  memory_.queue.clear();
  memory_.queue.reserve(size);
  choosing_.reserve(size);
  group_.reserve(size);

  std::vector<std::vector<SubsystemId>> sources(size);
  std::vector<unsigned char> is_read(size, 0);
  for (const auto& connection : graph.connections()) {
    const SubsystemId from = graph.owner(connection.output);
    const SubsystemId to = graph.owner(connection.input);
    if (from == to) continue;  // its own output is always there
    sources[to].push_back(from);
    is_read[from] = 1;
  }
  only_reads_.assign(size, 0);
  for (std::size_t s = 0; s < size; ++s) only_reads_[s] = !is_read[s] && !sources[s].empty() ? 1 : 0;
  std::vector<std::vector<SubsystemId>> neighbours = sources;
  for (std::size_t s = 0; s < size; ++s) {
    if (only_reads_[s] != 0) continue;
    for (const SubsystemId source : sources[s]) neighbours[source].emplace_back(s);
  }
  sources_ = make_lists(sources);
  neighbours_ = make_lists(neighbours);
}

Time StepScheduler::imposed_end(SubsystemId s) {
  const auto& imposed = constraints_[s].imposed;
  const Duration offset = constraints_[s].offset;
  const bool first_is_offset = offset > 0.0;
  const double multiple = static_cast<double>(first_is_offset ? memory_.count[s] : memory_.count[s] + 1);
  ++memory_.count[s];
  const Time end = start_ + offset + multiple * *imposed;
  if (std::abs(end - stop_) <= kRounding * *imposed) return stop_;
  return end < stop_ ? end : kNever;
}

bool StepScheduler::can_step(SubsystemId s, Time now) const {
  return stop_ - now >= constraints_[s].shortest * (1 - kRounding);
}

/// Can a rest of the run be made in steps within the limits?
bool StepScheduler::rest_fits(SubsystemId s, Duration rest) const {
  const auto& limits = constraints_[s];
  const double fewest = std::max(1.0, std::ceil(rest / limits.max_step - kRounding));
  return rest == 0.0 || fewest * limits.min_step <= rest * (1 + kRounding);
}

/// Within its limits, and nothing is left behind that it cannot step (unless that is so already).
bool StepScheduler::may_end(SubsystemId s, Time now, Time end) const {
  const auto& limits = constraints_[s];
  const Duration size = end - now;
  if (end > stop_ || size < limits.min_step * (1 - kRounding) || size > limits.max_step * (1 + kRounding)) return false;
  return rest_fits(s, stop_ - end) || !rest_fits(s, stop_ - now);
}

/// Steps of about this size that divide the rest of the run evenly.
Time StepScheduler::even_end(SubsystemId s, Time now, Duration step) const {
  const auto& limits = constraints_[s];
  const Duration rest = stop_ - now;
  if (rest <= limits.min_step) return stop_;
  const double fewest = std::ceil(rest / limits.max_step - kRounding);
  const double most = std::floor(rest / limits.min_step + kRounding);
  if (fewest > most) return now + std::clamp(step, limits.min_step, limits.max_step);
  const double count = std::clamp(std::ceil(rest / step - kRounding), std::max(fewest, 1.0), most);
  return count == 1.0 ? stop_ : now + rest / count;
}

/// One step by itself: as long as proposed, unless a short remainder would be left before the next synchronization
/// point.
Time StepScheduler::chosen_end(SubsystemId s, Time now, const Request& request) const {
  if (!can_step(s, now)) return kNever;
  const auto& limits = constraints_[s];
  const Duration step = std::clamp(request.proposal, limits.min_step, limits.max_step);
  Time sync_point = kNever;
  for (const SubsystemId other : list(neighbours_, s)) {
    const bool in_reach = memory_.end[other] - now >= limits.min_step * (1 - kRounding);
    if (planning_[other] == 0 && in_reach) sync_point = std::min(sync_point, memory_.end[other]);
  }
  const bool event_in_reach = request.event - now >= limits.min_step * (1 - kRounding);
  const Time bound = event_in_reach ? std::min(stop_, request.event) : stop_;
  // No other subsystem waits at a bound: there only a rest too short for a step counts as a remainder.
  const Duration least_rest = sync_point <= bound ? step : limits.min_step;
  const Time goal = std::min(sync_point, bound);
  const Duration distance = goal - now;
  Time end = now + step;
  if (distance <= step * (1 + kRounding)) {
    end = goal;
  } else if (distance < step + least_rest) {
    const bool half_is_too_short = 0.5 * distance < limits.min_step;
    end = half_is_too_short ? goal : now + 0.5 * distance;
  }
  return may_end(s, now, end) ? end : even_end(s, now, step);
}

/// Steps from one synchronization point with its sources to the next, so that its inputs are known at both ends.
Time StepScheduler::reading_end(SubsystemId s, Time now, const Request& request) const {
  if (!can_step(s, now)) return kNever;
  const auto& limits = constraints_[s];
  Time end = kNever;
  for (const SubsystemId source : sources(s)) {
    if (memory_.end[source] > now) end = std::min(end, memory_.end[source]);
  }
  end = std::min({std::max(end, now + limits.min_step), now + limits.max_step, stop_});
  if (may_end(s, now, request.event)) end = std::min(end, request.event);
  return may_end(s, now, end) ? end : even_end(s, now, end - now);
}

/// Connected subsystems that choose at the same time all take the earliest end among them.
void StepScheduler::synchronize(Time now) {
  std::sort(choosing_.begin(), choosing_.end(), [this](SubsystemId a, SubsystemId b) {
    return memory_.end[a] < memory_.end[b] || (memory_.end[a] == memory_.end[b] && a < b);
  });
  for (const SubsystemId earliest : choosing_) {
    if (planning_[earliest] == 2) continue;
    const Time sync_point = memory_.end[earliest];
    group_.assign(1, earliest);
    planning_[earliest] = 2;
    for (std::size_t i = 0; i < group_.size(); ++i) {
      for (const SubsystemId other : list(neighbours_, group_[i])) {
        if (planning_[other] != 1) continue;
        planning_[other] = 2;
        group_.push_back(other);
      }
    }
    for (const SubsystemId member : group_) {
      const Time nearest = sync_point - now >= constraints_[member].min_step * (1 - kRounding)
                               ? sync_point
                               : std::min(memory_.end[member], now + constraints_[member].min_step);
      if (may_end(member, now, nearest)) memory_.end[member] = nearest;
    }
  }
}

void StepScheduler::plan(Time now, std::span<const SubsystemId> due, std::span<const Request> requests) {
  choosing_.clear();
  for (const SubsystemId s : due) {
    if (chooses(s)) {
      planning_[s] = 1;
      choosing_.push_back(s);
    } else if (constraints_[s].imposed) {
      memory_.end[s] = imposed_end(s);
    }
  }
  for (const SubsystemId s : choosing_) memory_.end[s] = chosen_end(s, now, requests[s]);
  synchronize(now);
  for (const SubsystemId s : choosing_) planning_[s] = 0;
  for (const SubsystemId s : due) {
    if (!chooses(s) && !constraints_[s].imposed) memory_.end[s] = reading_end(s, now, requests[s]);
  }
  for (const SubsystemId s : due) {
    if (now >= stop_) memory_.end[s] = kNever;
    if (memory_.end[s] == kNever) continue;
    memory_.queue.emplace_back(memory_.end[s], s);
    std::push_heap(memory_.queue.begin(), memory_.queue.end(), std::greater<>());
  }
}

Time StepScheduler::next(std::vector<SubsystemId>& due) {
  due.clear();
  if (memory_.queue.empty()) return kNever;
  const Time now = memory_.queue.front().first;
  while (!memory_.queue.empty() && base::reached(now, memory_.queue.front().first)) {
    std::pop_heap(memory_.queue.begin(), memory_.queue.end(), std::greater<>());
    due.emplace_back(memory_.queue.back().second);
    memory_.queue.pop_back();
  }
  std::sort(due.begin(), due.end());
  return now;
}

void StepScheduler::take_back(std::span<const SubsystemId> begun, std::span<const SubsystemId> ended) {
  for (const SubsystemId s : begun) {
    planning_[s] = 1;
    if (constraints_[s].imposed) --memory_.count[s];
  }
  std::erase_if(memory_.queue, [this](const auto& step) { return planning_[step.second] != 0; });
  for (const SubsystemId s : ended) {
    if (planning_[s] == 0) memory_.queue.emplace_back(memory_.end[s], s);
  }
  std::make_heap(memory_.queue.begin(), memory_.queue.end(), std::greater<>());
  for (const SubsystemId s : begun) planning_[s] = 0;
}

}  // namespace entrain::method
