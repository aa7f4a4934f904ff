#pragma once

namespace entrain::base {

/// Does something at the end of a scope, however it is left.
template <class Action>
class Finally {
 public:
  explicit Finally(Action action) : action_(action) {}
  ~Finally() { action_(); }
  Finally(const Finally&) = delete;
  Finally& operator=(const Finally&) = delete;

 private:
  Action action_;
};

}  // namespace entrain::base
