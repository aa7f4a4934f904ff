// What f3ornits remembers: for checkpoints, and to take back the steps that ended behind a jump.
#include <algorithm>

#include "masters/f3ornits.hpp"

namespace entrain {
namespace {

constexpr double kSizeRounding = 1e-9;
// A step that ended behind a jump is made again as this share of it.
constexpr double kShorter = 0.1;

}  // namespace

bool F3ornits::Member::at_its_shortest() const {
  return imposed || size <= min_step * (1 + kSizeRounding);
}

void F3ornits::keep_before_plan() {
  before_.now = now_;
  before_.due.assign(due_.begin(), due_.end());
  before_.changed.assign(due_.begin(), due_.end());
  before_.numbers.clear();
  for (const SubsystemId s : due_) save_member(s, before_.numbers);
}

/// Steps are made when they end, so that those who end together are all that must be rolled back; but for those who
/// only read, who are stepped when all others have made their steps for good.
void F3ornits::keep_before_steps(CoupledSystem& system) {
  before_.stepped.clear();
  for (const SubsystemId s : due_) {
    if (!rendezvous_.only_reads(s)) before_.stepped.push_back(s);
  }
  before_.kept = !before_.stepped.empty() && std::all_of(before_.stepped.begin(), before_.stepped.end(),
                                                         [&](SubsystemId s) { return members_[s].rollback; });
  if (!before_.kept) return;
  for (const SubsystemId s : due_) {
    const bool planned_now = members_[s].from == before_.now;
    if (planned_now) continue;
    before_.changed.push_back(s);
    save_member(s, before_.numbers);
  }
  system.save(before_.stepped, before_.steps);
}

/// True when everything was put back, because a step that ended behind a jump can be made shorter. Whom it meets, and
/// the stop time, may not let it: what was made again and ended where it did before stays as it is.
bool F3ornits::taken_back_for_jump(CoupledSystem& system) {
  if (!before_.kept) return false;
  if (now_ >= before_.taken_back_end) jumped_.clear();
  std::erase_if(jumped_, [&](SubsystemId s) {
    const bool began_earlier = members_[s].from != before_.now;  // others have communicated since
    return began_earlier || members_[s].at_its_shortest();
  });
  if (!jumped_.empty()) {
    system.restore(before_.steps);
    rendezvous_.take_back(before_.due, due_);
    std::vector<Duration> shorter;
    for (const SubsystemId s : jumped_) {
      shorter.push_back(std::max(members_[s].min_step, kShorter * members_[s].size));
    }
    const double* next = before_.numbers.data();
    for (const SubsystemId s : before_.changed) restore_member(s, next);
    for (std::size_t i = 0; i < jumped_.size(); ++i) wishes_[jumped_[i]].proposal = shorter[i];
    before_.taken_back_end = now_;
    now_ = before_.now;
    due_ = before_.due;
  }
  system.release(before_.steps);
  return !jumped_.empty();
}

void F3ornits::save_member(SubsystemId s, std::vector<double>& numbers) const {
  Member member = members_[s];
  member.each_number([&](auto field) { numbers.push_back(static_cast<double>(field)); });
  numbers.push_back(wishes_[s].proposal);
  inputs_.save(member.inputs, numbers);
  for (const OutputId y : member.outputs) {
    estimates_[y].save(numbers);
    numbers.insert(numbers.end(), {outputs_[y].range.low(), outputs_[y].range.high(), outputs_[y].error,
                                   outputs_[y].doubted ? 1.0 : 0.0});
  }
}

void F3ornits::restore_member(SubsystemId s, const double*& next) {
  Member& member = members_[s];
  member.each_number([&](auto& field) { field = static_cast<std::decay_t<decltype(field)>>(*next++); });
  wishes_[s].proposal = *next++;
  inputs_.restore(member.inputs, next);
  for (const OutputId y : member.outputs) {
    estimates_[y].restore(next);
    const double low = *next++;
    const double high = *next++;
    outputs_[y].range.set(low, high);
    outputs_[y].error = *next++;
    outputs_[y].doubted = *next++ != 0.0;
  }
}

MethodMemory F3ornits::memory() const {
  MethodMemory memory{step_, {now_}};
  rendezvous_.save(memory.numbers);
  for (std::size_t s = 0; s < members_.size(); ++s) save_member(SubsystemId{s}, memory.numbers);
  for (const SubsystemId s : due_) memory.numbers.push_back(static_cast<double>(s));
  return memory;
}

void F3ornits::restore(const MethodMemory& memory) {
  step_ = memory.step;
  const double* next = memory.numbers.data();
  now_ = *next++;
  rendezvous_.restore(next);
  for (std::size_t s = 0; s < members_.size(); ++s) restore_member(SubsystemId{s}, next);
  due_.clear();
  for (const double* end = memory.numbers.data() + memory.numbers.size(); next != end;) {
    due_.emplace_back(static_cast<std::size_t>(*next++));
  }
}

}  // namespace entrain
