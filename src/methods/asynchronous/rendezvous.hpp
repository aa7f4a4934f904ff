#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "entrain/graph.hpp"
#include "entrain/subsystem.hpp"

namespace entrain {

/// Who communicates when, each subsystem at its own pace: the scheduler of F3ORNITS, which the paper leaves open
/// (docs/theory/f3ornits.md).
///
/// Each subsystem has one step under way. The earliest end of all steps is the next communication time; those who end
/// there plan their next step, and where they can choose they choose to meet whom they are connected to.
class Rendezvous {
 public:
  struct Constraints {
    std::optional<Duration> imposed;  ///< it communicates at start + offset + k * imposed, and nowhere else
    Duration offset = 0.0;
    Duration min_step = 0.0;  ///< wanted; > 0 unless imposed. Only the last step of the run may have to be shorter
    Duration max_step = kNever;
    Duration shortest = 0.0;  ///< that it can make at all: without room for it before the stop it steps no more
    std::vector<Time> prescribed = {};  ///< where its steps end, in place of what it would choose; from the start on
  };
  /// What one subsystem wants of its next step.
  struct Wish {
    Duration proposal = kNever;  ///< by its step control
    Time event = kNever;         ///< something is announced to happen to its inputs or outputs there

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(proposal, event);
    }
  };

  void start(const Graph& graph, std::vector<Constraints> constraints, Time start, Time stop);

  /// The ends of the steps that `due` begin now; `wishes` by subsystem.
  void plan(Time now, std::span<const SubsystemId> due, std::span<const Wish> wishes);
  /// The next communication time and, in their order, those whose steps end there. kNever when no step is under way:
  /// nobody has room for another step before the stop time.
  Time next(std::vector<SubsystemId>& due);
  /// As before the latest `plan` (of `begun`) and `next` (`ended`).
  void take_back(std::span<const SubsystemId> begun, std::span<const SubsystemId> ended);

  Time end(SubsystemId s) const { return memory_.end[s]; }
  /// It reads others and nobody reads it: it can wait until its inputs are known.
  bool only_reads(SubsystemId s) const { return only_reads_[s] != 0; }
  std::span<const SubsystemId> sources(SubsystemId s) const { return list(sources_, s); }

  struct Memory {
    std::vector<Time> end;                            ///< of the step under way; kNever if none
    std::vector<std::uint64_t> count;                 ///< communication times of an imposed step so far
    std::vector<std::pair<Time, std::size_t>> queue;  ///< a heap, the earliest end on top

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(end, count, queue);
    }
  };
  const Memory& memory() const { return memory_; }
  void restore(const Memory& memory) { memory_ = memory; }

 private:
  /// Ids by subsystem, one list behind the other.
  struct Lists {
    std::vector<std::size_t> first;
    std::vector<SubsystemId> ids;
  };
  static std::span<const SubsystemId> list(const Lists& lists, SubsystemId s) {
    return {lists.ids.data() + lists.first[s], lists.first[s + 1] - lists.first[s]};
  }
  static Lists make_lists(std::vector<std::vector<SubsystemId>>& ids);

  bool is_prescribed(SubsystemId s) const { return !constraints_[s].imposed && !constraints_[s].prescribed.empty(); }
  bool chooses(SubsystemId s) const {
    return !constraints_[s].imposed && only_reads_[s] == 0 && constraints_[s].prescribed.empty();
  }
  Time imposed_end(SubsystemId s);
  Time prescribed_end(SubsystemId s, Time now) const;
  Time chosen_end(SubsystemId s, Time now, const Wish& wish) const;
  Time reading_end(SubsystemId s, Time now, const Wish& wish) const;
  Time even_end(SubsystemId s, Time now, Duration step) const;
  bool has_room(SubsystemId s, Time now) const;
  bool rest_fits(SubsystemId s, Duration rest) const;
  bool may_end(SubsystemId s, Time now, Time end) const;
  void meet_each_other(Time now);

  std::vector<Constraints> constraints_;
  Lists sources_;     // whom it reads
  Lists neighbours_;  // whom it reads and who reads it, without those who only read
  std::vector<unsigned char> only_reads_;
  Time start_ = 0.0;
  Time stop_ = 0.0;
  Memory memory_;
  std::vector<unsigned char> planning_;  // per subsystem: 1 = chooses its end now, 2 = has chosen
  std::vector<SubsystemId> choosing_;
  std::vector<SubsystemId> group_;
};

}  // namespace entrain
