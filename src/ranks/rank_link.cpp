#include "ranks/rank_link.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "base/facts/error_record.hpp"
#include "base/looking.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::ranks {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSpins = 200;  // polls before another process may have the processor
constexpr auto kBusyWait = 2ms;        // then it sleeps between them
constexpr auto kSleep = 50us;
constexpr auto kLookEvery = 20ms;  // at the other processes
constexpr auto kGoneFor = 300ms;   // a process that ended may have answered before
constexpr std::size_t kMostRoom = 1U << 20U;
constexpr std::uint64_t kMostBytes = std::numeric_limits<int>::max();
constexpr double kGiB = 1073741824.0;
constexpr std::size_t kAlignment = 8;

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::vector<int> usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> found;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return found;
  for (int number = 0; number < CPU_SETSIZE; ++number) {
    if (CPU_ISSET(static_cast<std::size_t>(number), &set)) found.push_back(number);
  }
  return found;
}

Peer this_process() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return {ENTRAIN_VERSION, name.data(), this_node(), ::getpid(), processor_name(), usable_processors()};
}

}  // namespace

std::string this_node() {
  std::string boot;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::getline(file, boot);
  std::error_code unknown;
  const auto numbers = std::filesystem::read_symlink("/proc/self/ns/pid", unknown).string();
  if (!boot.empty() && !numbers.empty()) return boot + " " + numbers;
  std::random_device source;  // alone, as far as is known
  return fmt::format("{:x}{:x}{:x}{:x}", source(), source(), source(), source());
}

std::vector<std::vector<int>> nodes_of(std::span<const Peer> peers) {
  std::vector<std::vector<int>> nodes;
  for (std::size_t r = 0; r < peers.size(); ++r) {
    const auto same = [&](const std::vector<int>& node) {
      return peers[static_cast<std::size_t>(node.front())].node == peers[r].node;
    };
    const auto known = std::find_if(nodes.begin(), nodes.end(), same);
    (known == nodes.end() ? nodes.emplace_back() : *known).push_back(static_cast<int>(r));
  }
  return nodes;
}

std::vector<Fact> about_processors(std::span<const Peer> peers) {
  std::vector<Fact> facts;
  std::set<std::string> kinds;
  for (const auto& peer : peers) kinds.insert(peer.processor);
  if (kinds.size() > 1) facts.push_back({FactCode::RanksCpusDiffer, {kinds.begin(), kinds.end()}});
  for (const auto& node : nodes_of(peers)) {
    std::set<int> processors;
    for (const int r : node) {
      const auto& usable = peers[static_cast<std::size_t>(r)].processors;
      processors.insert(usable.begin(), usable.end());
    }
    if (node.size() <= std::max<std::size_t>(1, processors.size())) continue;
    facts.push_back({FactCode::RanksShareProcessors,
                     {peers[static_cast<std::size_t>(node.front())].host},
                     {{"ranks", node.size()}, {"processors", processors.size()}}});
  }
  return facts;
}

/// The launcher of Open MPI kills after a second, unless this variable names another time.
std::chrono::duration<double> RankLink::patience() {
  const char* seconds = std::getenv("OMPI_MCA_odls_base_sigkill_timeout");
  if (seconds != nullptr) {
    double limit = 1.0;
    std::from_chars(seconds, seconds + std::strlen(seconds), limit);
    return std::chrono::duration<double>(0.4 * std::max(1.0, limit));
  }
  return std::chrono::duration<double>(std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr ? 0.4 : 10.0);
}

RankLink::RankLink(std::unique_ptr<Communicator> communicator, const std::atomic<bool>* interrupt, bool may_share)
    : communicator_(std::move(communicator)),
      rank_(communicator_->rank()),
      size_(communicator_->size()),
      interrupt_(interrupt),
      room_(static_cast<std::size_t>(size_), 256),
      heads_(room_.size()),
      whole_(room_.size()),
      blocks_(room_.size()),
      sizes_(room_.size()),
      counts_(room_.size()),
      places_(room_.size()) {
  meet(may_share);
}

RankLink::~RankLink() {
  base::share_processors(1);
  if (!ended_ && usable_ && !broken_) communicator_->end();
}

/// Nothing is compared by exchanges before all are known to be of one version.
void RankLink::meet(bool may_share) {
  peers_.resize(room_.size());
  const auto all = exchange(Purpose::Data, 0, base::to_bytes(this_process()));
  for (std::size_t r = 0; r < all.size(); ++r) base::from_bytes(all[r], peers_[r]);
  for (std::size_t r = 1; r < peers_.size(); ++r) {
    if (peers_[r].version == peers_[0].version) continue;
    give_up(Error(ErrorCode::InvalidSystem,
                  {FactCode::RanksDiffer,
                   {peers_[r].host, peers_[0].host},
                   {{"rank", r},
                    {"what", fmt::format("Entrain {} there, {} here", peers_[r].version, peers_[0].version)}}}),
            true);
  }
  const Peer& own = peers_[static_cast<std::size_t>(rank_)];
  const std::set<int> usable(own.processors.begin(), own.processors.end());
  std::set<int> processors;
  std::size_t here = 0;
  int beside = 0;  // ranks that may use a processor of this one; none where the launcher binds each to its own
  for (const auto& peer : peers_) {
    if (peer.node != own.node) continue;
    ++here;
    processors.insert(peer.processors.begin(), peer.processors.end());
    beside += std::any_of(peer.processors.begin(), peer.processors.end(), [&](int p) { return usable.count(p) > 0; });
  }
  shares_processors_ = here > std::max<std::size_t>(1, processors.size());
  base::share_processors(beside);
  if (here == peers_.size()) share_memory(may_share);
}

/// Where one of them cannot, or may not, none does.
void RankLink::share_memory(bool may_share) {
  std::unique_ptr<NodeBoard> board;
  const auto bytes = from_first([&] {
    try {
      if (may_share) board = std::make_unique<NodeBoard>(size_, rank_);
    } catch (const std::system_error&) {  // then there is none
      board.reset();
    }
    return base::to_bytes(board ? board->address() : NodeBoard::Address{});
  });
  NodeBoard::Address address;
  base::from_bytes(bytes, address);
  try {
    if (may_share && rank_ != 0 && !address.file.empty()) board = std::make_unique<NodeBoard>(address, size_, rank_);
  } catch (const std::system_error&) {  // then there is none
    board.reset();
  }
  bool all = true;
  for (const auto& each : gather(base::to_bytes(board != nullptr))) {
    bool there = false;
    base::from_bytes(each, there);
    all = all && there;
  }
  if (all) board_ = std::move(board);
}

int RankLink::first_here() const {
  const auto& node = peers_[static_cast<std::size_t>(rank_)].node;
  const auto first = std::find_if(peers_.begin(), peers_.end(), [&](const Peer& peer) { return peer.node == node; });
  return static_cast<int>(first - peers_.begin());
}

std::string RankLink::name_of(int rank) const {
  return fmt::format("rank {} on '{}'", rank, peers_[static_cast<std::size_t>(rank)].host);
}

std::span<const std::span<const std::byte>> RankLink::exchange(Purpose purpose, std::uint64_t decision,
                                                               std::span<const std::byte> own) {
  if (broken_) throw Error(*broken_);
  const Head head{number_, decision, purpose, is_interrupted_here() ? 1U : 0U, own.size()};
  board_ ? read_board(head, own) : gather_heads(head, own);
  if (std::any_of(heads_.begin(), heads_.end(), [](const Head& each) { return each.interrupted != 0; }))
    agreed_.store(true, std::memory_order_relaxed);
  bool more = false;
  for (std::size_t r = 0; r < heads_.size(); ++r) more = more || heads_[r].size > blocks_[r].size();
  if (more) gather_rest(own);
  check(head);
  ++number_;
  return blocks_;
}

void RankLink::read_board(const Head& head, std::span<const std::byte> own) {
  const std::uint64_t exchange = number_ + 1;
  board_->write(exchange, std::as_bytes(std::span(&head, 1)), own);
  wait([&] { return board_->is_complete(exchange); });
  for (std::size_t r = 0; r < heads_.size(); ++r) {
    const std::byte* block = board_->block(exchange, static_cast<int>(r));
    std::memcpy(&heads_[r], block, sizeof(Head));
    blocks_[r] = {block + sizeof(Head), std::min<std::size_t>(NodeBoard::kRoom - sizeof(Head), heads_[r].size)};
  }
}

/// Of every block the head, and what has room behind it.
void RankLink::gather_heads(const Head& head, std::span<const std::byte> own) {
  const std::size_t room = room_[static_cast<std::size_t>(rank_)];
  sent_.resize(sizeof head + room);
  std::memcpy(sent_.data(), &head, sizeof head);
  if (!own.empty()) std::memcpy(sent_.data() + sizeof head, own.data(), std::min(room, own.size()));
  for (std::size_t r = 0; r < room_.size(); ++r) sizes_[r] = sizeof(Head) + room_[r];
  transfer(sent_.data(), received_);
  for (std::size_t r = 0; r < heads_.size(); ++r) {
    const std::byte* block = received_.data() + places_[r];
    std::memcpy(&heads_[r], block, sizeof(Head));
    blocks_[r] = {block + sizeof(Head), std::min<std::size_t>(room_[r], heads_[r].size)};
    const std::size_t aligned = (heads_[r].size + kAlignment - 1) / kAlignment * kAlignment;
    // Together no more than MPI counts.
    const std::size_t most = std::min(kMostRoom, kMostBytes / room_.size() / 2 / kAlignment * kAlignment);
    room_[r] = std::min(most, std::max(aligned, room_[r] - room_[r] / 64 / kAlignment * kAlignment));
  }
}

void RankLink::gather_rest(std::span<const std::byte> own) {
  for (std::size_t r = 0; r < room_.size(); ++r) {
    whole_[r].assign(blocks_[r].begin(), blocks_[r].end());
    sizes_[r] = heads_[r].size - blocks_[r].size();
  }
  const auto begun = blocks_[static_cast<std::size_t>(rank_)].size();
  sent_.assign(own.begin() + static_cast<std::ptrdiff_t>(begun), own.end());
  transfer(sent_.data(), rest_);
  for (std::size_t r = 0; r < room_.size(); ++r) {
    const std::byte* first = rest_.data() + places_[r];
    whole_[r].insert(whole_[r].end(), first, first + counts_[r]);
    blocks_[r] = whole_[r];
  }
}

void RankLink::transfer(const std::byte* own, std::vector<std::byte>& all) {
  lay_out();
  const auto end = static_cast<std::size_t>(places_.back()) + sizes_.back();
  if (all.size() < end) all.resize(end);
  communicator_->gather(own, counts_.data(), places_.data(), all.data());
  wait([this] { return communicator_->poll(); });
}

/// Known everywhere alike: more than MPI counts is refused by all.
void RankLink::lay_out() {
  const std::uint64_t sum = std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{0});
  if (sum > kMostBytes) {
    const auto r = static_cast<std::size_t>(std::max_element(sizes_.begin(), sizes_.end()) - sizes_.begin());
    const auto why = fmt::format("its block of {:.3g} GiB makes an exchange of {:.3g} GiB; MPI counts to 2 GiB",
                                 static_cast<double>(sizes_[r]) / kGiB, static_cast<double>(sum) / kGiB);
    give_up(Error(ErrorCode::SubsystemFailed, {FactCode::RankFailed, {peers_[r].host}, {{"rank", r}, {"why", why}}}),
            true);
  }
  int end = 0;
  for (std::size_t r = 0; r < sizes_.size(); ++r) {
    places_[r] = end;
    counts_[r] = static_cast<int>(sizes_[r]);
    end += counts_[r];
  }
}

void RankLink::wait(base::FunctionRef<bool()> is_done) {
  const auto began = Clock::now();
  looked_ = began;
  asked_.reset();
  missed_.reset();
  Clock::duration waited{};
  for (std::uint64_t polls = 0; !is_done(); ++polls) {
    if (!shares_processors_ && polls < kSpins) continue;
    ::sched_yield();
    if (polls % 16 != 0) continue;
    const auto now = Clock::now();
    waited = now - began;
    if (waited > kBusyWait) std::this_thread::sleep_for(kSleep);
    if (now - looked_ < kLookEvery) continue;
    looked_ = now;
    look_around(waited);
  }
  waiting_ += Clock::now() - began;
}

/// An exchange that takes its time: perhaps it will not end.
void RankLink::look_around(Clock::duration waited) {
  // Who waits for shared memory makes no call of MPI, in which what this rank has sent may still be under way.
  if (board_) communicator_->progress();
  const auto now = Clock::now();
  if (const auto ended = ended_peer()) {
    if (!missed_) missed_ = now;
    if (now - *missed_ > kGoneFor) {
      const Peer& peer = peers_[static_cast<std::size_t>(*ended)];
      give_up(Error(ErrorCode::SubsystemFailed,
                    {FactCode::RankEnded, {peer.host}, {{"rank", *ended}, {"process", peer.process}}}),
              false);
    }
  }
  if (patient_) return;
  if (is_interrupted_here() && !asked_) asked_ = now;
  const bool impatient = asked_ && now - *asked_ > patience();
  if (!impatient && waited < std::chrono::duration<double>(limit_)) return;
  std::vector<std::string> silent;
  for (int r = 0; r < size_; ++r) {
    if (r != rank_) silent.push_back(name_of(r));
  }
  Fact fact{FactCode::RankSilent,
            {silent.begin(), silent.end()},
            {{"seconds", std::chrono::duration<double>(waited).count(), "s"}, {"number", number_}}};
  if (impatient) fact.values.emplace_back("after", 1);
  give_up(Error(ErrorCode::SubsystemFailed, std::move(fact)), false);
}

/// Of those on this node.
std::optional<int> RankLink::ended_peer() const {
  for (int r = 0; r < size_; ++r) {
    if (has_ended(r)) return r;
  }
  return std::nullopt;
}

bool RankLink::has_ended(int rank) const {
  const Peer& peer = peers_[static_cast<std::size_t>(rank)];
  const bool here = rank != rank_ && peer.process != 0 && peer.node == peers_[static_cast<std::size_t>(rank_)].node;
  return here && ::kill(static_cast<pid_t>(peer.process), 0) != 0 && errno == ESRCH;
}

void RankLink::abandon(const Error& why) {
  usable_ = false;
  if (!broken_) broken_ = why;
}

void RankLink::check(const Head& own) {
  if (own.purpose == Purpose::Failure) return;
  for (std::size_t r = 0; r < heads_.size(); ++r) {
    if (heads_[r].purpose != Purpose::Failure) continue;
    base::ErrorRecord record;
    base::from_bytes(blocks_[r], record);
    const Error there = record.error();
    ErrorContext context = there.context();
    give_up(Error(there.code(), {FactCode::RankFailed, {peers_[r].host}, {{"rank", r}, {"why", there.what()}}},
                  {.subsystem = {}, .variable = {}, .time = context.time, .remedy = {}}),
            true);
  }
  const bool agree = std::all_of(heads_.begin(), heads_.end(), [&](const Head& head) {
    return head.number == own.number && head.decision == own.decision && head.purpose == own.purpose;
  });
  if (!agree) give_up(parted(own), true);
}

/// Names the first rank that is not with most of them; of two that are alone, the one that is not the first.
Error RankLink::parted(const Head& own) const {
  const auto same = [](const Head& a, const Head& b) {
    return a.number == b.number && a.decision == b.decision && a.purpose == b.purpose;
  };
  const auto company = [&](const Head& head) {
    return std::count_if(heads_.begin(), heads_.end(), [&](const Head& each) { return same(head, each); });
  };
  const auto most = std::max_element(heads_.begin(), heads_.end(),
                                     [&](const Head& a, const Head& b) { return company(a) < company(b); });
  const auto odd = std::find_if(heads_.begin(), heads_.end(), [&](const Head& head) { return !same(head, *most); });
  const auto r = static_cast<std::size_t>(odd - heads_.begin());
  Fact fact{FactCode::RanksParted, {peers_[r].host}, {{"rank", r}, {"number", odd->number}}};
  if (odd->number != most->number) fact.values.emplace_back("other", most->number);
  static_cast<void>(own);
  return Error(ErrorCode::SubsystemFailed, std::move(fact));
}

void RankLink::give_up(Error error, bool usable) {
  usable_ = usable_ && usable;
  broken_ = error;
  throw error;
}

base::Bytes RankLink::from_first(const std::function<base::Bytes()>& make) {
  base::Bytes made;
  if (rank_ == 0) {
    try {
      made = base::to_bytes(true, make());
    } catch (const Error& error) {
      made = base::to_bytes(false, base::to_bytes(base::ErrorRecord(error)));
    }
  }
  patient_ = true;
  const auto all = exchange(Purpose::Data, 1, made);
  patient_ = false;
  bool whole = false;
  base::Bytes bytes;
  base::from_bytes(all[0], whole, bytes);
  if (whole) return bytes;
  base::ErrorRecord record;
  base::from_bytes(bytes, record);
  throw record.error();
}

std::vector<base::Bytes> RankLink::gather(const base::Bytes& own) {
  const auto all = exchange(Purpose::Data, 2, own);
  std::vector<base::Bytes> copies;
  for (const auto& block : all) copies.emplace_back(block.begin(), block.end());
  return copies;
}

void RankLink::restart_clock() {
  started_ = Clock::now();
  waiting_ = {};
}

double RankLink::busy() const {
  return std::chrono::duration<double>(Clock::now() - started_ - waiting_).count();
}

void RankLink::finish() {
  if (std::exchange(ended_, true)) return;
  if (!broken_) {
    patient_ = true;  // the first one writes pages
    exchange(Purpose::End, 0, {});
  }
  if (usable_) communicator_->end();
}

void RankLink::leave(const Error& error) {
  if (std::exchange(ended_, true)) return;
  if (!broken_) {
    patient_ = true;
    exchange(Purpose::Failure, 0, base::to_bytes(base::ErrorRecord(error)));
    broken_ = error;
  }
  if (usable_) communicator_->end();
}

}  // namespace entrain::ranks
