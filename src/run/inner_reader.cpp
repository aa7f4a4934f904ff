#include "run/inner_reader.hpp"

#include <algorithm>

#include "base/values.hpp"

namespace entrain::running {

void InnerReader::ask_for(std::span<const std::size_t> signals) {
  for (const auto& inner : recordable_.inner) {
    if (std::find(signals.begin(), signals.end(), inner.signal) == signals.end()) continue;
    const SubsystemId subsystem{inner.subsystem};
    const auto known =
        std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) { return group.subsystem == subsystem; });
    Group& group = known != groups_.end() ? *known : groups_.emplace_back(Group{subsystem, {}, {}, {}});
    if (std::find(group.signals.begin(), group.signals.end(), inner.signal) != group.signals.end()) continue;
    group.places.push_back(inner.place);
    group.signals.push_back(inner.signal);
    group.values.emplace_back();
    has_discrete_ = has_discrete_ || recordable_.signals[inner.signal].discrete;
  }
}

void InnerReader::read(std::span<double> values) {
  for (auto& group : groups_) {
    system_.facets(group.subsystem).inner->read_inner(group.places, group.values);
    for (std::size_t i = 0; i < group.signals.size(); ++i) values[group.signals[i]] = base::number_of(group.values[i]);
  }
}

std::span<const Value> InnerReader::all_discrete(std::span<const Value> of_system) {
  if (!has_discrete_ && (of_system.empty() || recordable_.inner_discrete == 0)) return of_system;
  discrete_.resize(recordable_.discrete + recordable_.inner_discrete);
  std::copy(of_system.begin(), of_system.end(), discrete_.begin());
  for (const auto& group : groups_) {
    for (std::size_t i = 0; i < group.signals.size(); ++i) {
      if (const auto place = recordable_.signals[group.signals[i]].discrete) discrete_[*place] = group.values[i];
    }
  }
  return discrete_;
}

}  // namespace entrain::running
