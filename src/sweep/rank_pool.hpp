#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ranks/rank_link.hpp"
#include "sweep/case_host.hpp"
#include "sweep/case_pool.hpp"

namespace entrain::sweeping {

/// Pauses between looks at messages: short while there is something to do, longer when nothing comes.
class Pause {
 public:
  double milliseconds();  ///< the next one
  void restart() { pause_ = kShortest; }

 private:
  static constexpr double kShortest = 0.1;
  static constexpr double kLongest = 2.0;
  double pause_ = kShortest;
};

/// Between the first process and the others.
enum class RankWord : std::uint64_t {
  Case,         ///< to them: a number
  Stop,         ///< to them: whether all are still there
  Ended,        ///< from them: a CaseEnd
  HostEnded,    ///< from them: no case can be made there any more
  Alive,        ///< from them
  Interrupted,  ///< from them: asked to end
  Stopped,      ///< from them: nothing comes any more
};

/// In the first process of a launcher: cases are made by the hosts of all, its own one included.
class RankPool final : public CasePool {
 public:
  /// `jobs`: of each rank. `limit`: s that a rank may be silent. Borrows both.
  RankPool(ranks::RankLink& link, CaseHost& host, std::size_t jobs, double limit);
  ~RankPool() override;
  RankPool(const RankPool&) = delete;
  RankPool& operator=(const RankPool&) = delete;

  std::size_t free() const override;
  void take(std::size_t number) override;
  std::vector<CaseEnd> wait() override;
  std::vector<CaseEnd> close() override;
  bool is_interrupted() const override { return interrupted_; }
  std::vector<SweepRank> ranks() const override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Member {
    std::set<std::size_t> under_way;
    Clock::time_point heard = Clock::now();
    std::optional<Clock::time_point> missed;  ///< its process has ended; it may have sent before
    std::string lost;                         ///< why it makes no cases; empty of one that does
    bool absent = false;                      ///< it does not even answer
    bool stopped = false;
  };

  void receive(double milliseconds);
  void take_end(std::size_t rank, const base::Bytes& bytes);
  void look_around();
  void give_up(std::size_t rank, const std::string& why);
  void be_without(std::size_t rank, const std::string& why);
  void send(std::size_t rank, RankWord word, const base::Bytes& bytes);

  ranks::RankLink& link_;
  CaseHost& host_;
  std::size_t jobs_;
  std::chrono::duration<double> limit_;
  std::vector<Member> members_;
  std::vector<CaseEnd> ended_;
  Clock::time_point looked_ = Clock::now();
  Pause pause_;
  bool interrupted_ = false;
  bool closed_ = false;
};

/// In the others: makes what the first one hands out, until it says that it is enough. Throws Error where that one has
/// ended.
void serve_first_rank(ranks::RankLink& link, CaseHost& host, double limit);

}  // namespace entrain::sweeping
