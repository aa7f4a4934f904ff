#pragma once

#include <deque>
#include <span>
#include <vector>

#include "base/grid.hpp"
#include "entrain/variable.hpp"

namespace entrain::recording {

/// Values that are constant between changes, read at times in the past: kept from one change to the next.
class HeldValues {
 public:
  void add(Time t, std::vector<Value> values) {
    if (changes_.empty() || changes_.back().values != values) changes_.push_back({t, std::move(values)});
  }
  /// At `t`, which never goes back.
  std::span<const Value> at(Time t) {
    while (changes_.size() > 1 && base::reached(t, changes_[1].time)) changes_.pop_front();
    return changes_.front().values;
  }

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(changes_);
  }

 private:
  struct Change {
    Time time;
    std::vector<Value> values;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(time, values);
    }
  };
  std::deque<Change> changes_;
};

}  // namespace entrain::recording
