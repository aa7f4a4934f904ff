#include "sweep/rank_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "entrain/fact_codes.hpp"

namespace entrain::sweeping {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kLookEvery = 50ms;   // at the other processes
constexpr auto kGoneFor = 100ms;    // a process that ended may have sent before
constexpr auto kLongestStop = 10s;  // of ranks that were asked to stop
constexpr const char* kHostEnded = "the process that starts its cases has ended";
constexpr int kSignsOfLife = 4;  // in the time that a rank may be silent

std::string name_of(const ranks::RankLink& link, std::size_t rank) {
  return fmt::format("rank {} on '{}'", rank, link.peers()[rank].host);
}

Error failed_rank(const ranks::RankLink& link, std::size_t rank, const std::string& why) {
  return {ErrorCode::SubsystemFailed,
          {FactCode::RankFailed, {link.peers()[rank].host}, {{"rank", rank}, {"why", why}}},
          {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Go on with --resume"}};
}

}  // namespace

double Pause::milliseconds() {
  return std::exchange(pause_, std::min(kLongest, 1.1 * pause_));
}

RankPool::RankPool(ranks::RankLink& link, CaseHost& host, std::size_t jobs, double limit)
    : link_(link), host_(host), jobs_(jobs), limit_(limit), members_(static_cast<std::size_t>(link.size())) {}

/// Also of a sweep that ends with an error: the others wait for it.
RankPool::~RankPool() {
  try {
    close();
  } catch (const Error& error) {
    link_.abandon(error);
  }
}

std::size_t RankPool::free() const {
  std::size_t sum = 0;
  for (const auto& member : members_) sum += member.lost.empty() ? jobs_ - member.under_way.size() : 0;
  return sum;
}

/// To the one that has the least to do; of several to the last one: the first has the hand-out besides.
void RankPool::take(std::size_t number) {
  std::size_t chosen = members_.size();
  for (std::size_t r = members_.size(); r-- > 0;) {
    if (!members_[r].lost.empty()) continue;
    if (chosen == members_.size() || members_[r].under_way.size() < members_[chosen].under_way.size()) chosen = r;
  }
  members_[chosen].under_way.insert(number);
  const auto bytes = base::to_bytes(std::uint64_t{number});
  if (chosen == 0) {
    host_.send(HostWord::Case, bytes);
  } else {
    send(chosen, RankWord::Case, bytes);
  }
  pause_.restart();
}

std::vector<CaseEnd> RankPool::wait() {
  const auto began = Clock::now();
  while (ended_.empty() && !interrupted_ && Clock::now() - began < std::chrono::milliseconds(kLongestWait)) {
    if (free() == 0 && std::all_of(members_.begin(), members_.end(), [](const auto& of) { return !of.lost.empty(); }))
      throw failed_rank(link_, 0, "no rank is left that makes cases");
    receive(pause_.milliseconds());
    look_around();
  }
  return std::exchange(ended_, {});
}

void RankPool::receive(double milliseconds) {
  if (const auto frame = host_.receive(milliseconds)) {
    pause_.restart();
    take_end(0, frame->bytes);
  }
  while (const auto message = link_.communicator().receive()) {
    pause_.restart();
    const auto rank = static_cast<std::size_t>(message->from);
    members_[rank].heard = Clock::now();
    auto word = RankWord::Alive;
    base::Bytes bytes;
    base::from_bytes(message->bytes, word, bytes);
    if (word == RankWord::Ended) take_end(rank, bytes);
    if (word == RankWord::HostEnded) give_up(rank, kHostEnded);
    if (word == RankWord::Interrupted) interrupted_ = true;
    if (word == RankWord::Stopped) members_[rank].stopped = true;
  }
}

void RankPool::take_end(std::size_t rank, const base::Bytes& bytes) {
  CaseEnd end;
  base::from_bytes(bytes, end);
  end.rank = rank;
  // One that was silent for too long may answer after all: then another rank has its cases.
  if (members_[rank].under_way.erase(end.number) > 0) ended_.push_back(std::move(end));
}

void RankPool::look_around() {
  const auto now = Clock::now();
  if (now - looked_ < kLookEvery) return;
  looked_ = now;
  if (host_.has_ended() && !members_[0].stopped) give_up(0, kHostEnded);
  for (std::size_t r = 1; r < members_.size(); ++r) {
    Member& member = members_[r];
    if (member.absent || member.stopped) continue;
    if (link_.has_ended(static_cast<int>(r))) {
      if (!member.missed) member.missed = now;
      if (now - *member.missed > kGoneFor) be_without(r, "its process has ended");
    } else if (now - member.heard > limit_) {
      be_without(r, fmt::format("it has not answered for {:.3g} s", limit_.count()));
    }
  }
}

void RankPool::be_without(std::size_t rank, const std::string& why) {
  give_up(rank, why);
  members_[rank].absent = true;
}

void RankPool::give_up(std::size_t rank, const std::string& why) {
  Member& member = members_[rank];
  if (!member.lost.empty()) return;
  member.lost = why;
  for (const std::size_t number : std::exchange(member.under_way, {}))
    ended_.push_back({number, {}, fmt::format("{}: {}", name_of(link_, rank), why), true, rank});
}

std::vector<CaseEnd> RankPool::close() {
  if (std::exchange(closed_, true)) return {};
  const bool whole = std::none_of(members_.begin(), members_.end(), [](const Member& of) { return of.absent; });
  for (std::size_t r = 1; r < members_.size(); ++r) {
    if (!members_[r].absent) send(r, RankWord::Stop, base::to_bytes(whole));
  }
  receive(0.0);
  members_[0].stopped = true;
  host_.end();
  const bool was_asked = interrupted_ || link_.is_interrupted_here();
  const auto patience = was_asked ? ranks::RankLink::patience() : std::chrono::duration<double>(kLongestStop);
  const auto asked = Clock::now();
  const auto is_awaited = [](const Member& of) { return !of.stopped && !of.absent; };
  while (std::any_of(members_.begin(), members_.end(), is_awaited) && Clock::now() - asked < patience) {
    receive(pause_.milliseconds());
    look_around();
  }
  for (std::size_t r = 0; r < members_.size(); ++r) {
    if (is_awaited(members_[r])) be_without(r, "it did not end with the others");
    if (members_[r].absent) link_.abandon(failed_rank(link_, r, members_[r].lost));
  }
  return std::exchange(ended_, {});
}

void RankPool::send(std::size_t rank, RankWord word, const base::Bytes& bytes) {
  link_.communicator().send(static_cast<int>(rank), base::to_bytes(word, bytes));
}

std::vector<SweepRank> RankPool::ranks() const {
  std::vector<SweepRank> all(members_.size());
  for (std::size_t r = 0; r < all.size(); ++r) {
    all[r].host = link_.peers()[r].host;
    all[r].lost = members_[r].lost;
  }
  return all;
}

namespace {

/// One of the other ranks: between the first one and the host here.
class Serving {
 public:
  Serving(ranks::RankLink& link, CaseHost& host, double limit)
      : link_(link), host_(host), sign_every_(std::min(5.0, limit / kSignsOfLife)) {}

  void serve() {
    while (!is_stopped_) {
      const bool had_host = !host_.has_ended();
      if (const auto frame = host_.receive(pause_.milliseconds())) {
        pause_.restart();
        send(RankWord::Ended, frame->bytes);
      }
      if (had_host && host_.has_ended()) send(RankWord::HostEnded);
      while (const auto message = link_.communicator().receive()) take(message->bytes);
      look_around();
    }
  }

 private:
  void take(const base::Bytes& message) {
    pause_.restart();
    auto word = RankWord::Stop;
    base::Bytes bytes;
    base::from_bytes(message, word, bytes);
    if (word == RankWord::Case) return host_.send(HostWord::Case, bytes);
    host_.end();
    bool whole = false;
    base::from_bytes(bytes, whole);
    send(RankWord::Stopped);
    if (!whole) link_.abandon(failed_rank(link_, 0, "it goes on without some of the ranks"));
    is_stopped_ = true;
  }

  void look_around() {
    const auto now = Clock::now();
    if (now - looked_ < kLookEvery) return;
    looked_ = now;
    if (now - sent_ > sign_every_) send(RankWord::Alive);
    if (link_.is_interrupted_here() && !asked_) {
      send(RankWord::Interrupted);
      asked_ = now;
    }
    const bool first_has_ended = link_.has_ended(0);
    if (!first_has_ended && !(asked_ && now - *asked_ > kLongestStop)) return;
    const auto why =
        failed_rank(link_, 0, first_has_ended ? "its process has ended" : "it did not end with the others");
    link_.abandon(why);
    throw Error(why);
  }

  void send(RankWord word, const base::Bytes& bytes = {}) {
    link_.communicator().send(0, base::to_bytes(word, bytes));
    sent_ = Clock::now();
  }

  ranks::RankLink& link_;
  CaseHost& host_;
  std::chrono::duration<double> sign_every_;
  Clock::time_point looked_ = Clock::now(), sent_ = Clock::now();
  std::optional<Clock::time_point> asked_;  ///< to end
  Pause pause_;
  bool is_stopped_ = false;
};

}  // namespace

void serve_first_rank(ranks::RankLink& link, CaseHost& host, double limit) {
  Serving(link, host, limit).serve();
}

}  // namespace entrain::sweeping
