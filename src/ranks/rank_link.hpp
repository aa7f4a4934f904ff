#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/function_ref.hpp"
#include "entrain/error.hpp"
#include "ranks/communicator.hpp"
#include "ranks/node_board.hpp"

namespace entrain::ranks {

/// One of the processes.
struct Peer {
  std::string version;  ///< of Entrain
  std::string host;
  std::string node;  ///< what shares a memory and process numbers: a boot of a machine, or a container on it
  std::int64_t process = 0;
  std::string processor;          ///< "Intel(R) Xeon(R) ..."
  std::vector<int> processors{};  ///< numbers of those that it may use

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(version, host, node, process, processor, processors);
  }
};

/// Of this process: the same in all that share its memory and its process numbers, and in no other. Names of hosts are
/// not unique.
std::string this_node();
/// Ranks of each node, in the order of their first ones.
std::vector<std::vector<int>> nodes_of(std::span<const Peer> peers);
/// What is worth knowing of their processors: several kinds (ranks-cpus-differ), and nodes with more ranks than they
/// have processors for (ranks-share-processors).
std::vector<Fact> about_processors(std::span<const Peer> peers);

/// What an exchange is for; those of one exchange must be the same everywhere.
enum class Purpose : std::uint32_t { Section, Call, Outputs, Data, End, Failure };

/// The exchanges of a run. Every process calls them in the same order. Each carries the number of the exchange and a
/// sum of the decision that led to it: processes that part are named instead of waiting for each other. After an error
/// every further exchange throws it.
class RankLink {
 public:
  /// Meets the others. `interrupt`: of this process; may be null; borrowed. `may_share`: memory with the others where
  /// all are on one node; false = everything goes through the communicator, as it does between nodes.
  RankLink(std::unique_ptr<Communicator> communicator, const std::atomic<bool>* interrupt, bool may_share = true);
  ~RankLink();
  RankLink(const RankLink&) = delete;
  RankLink& operator=(const RankLink&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::vector<Peer>& peers() const { return peers_; }
  /// The first rank on the node of this one.
  int first_here() const;
  /// Ranks of each node, in the order of their first ones.
  std::vector<std::vector<int>> nodes() const { return nodes_of(peers_); }
  /// Ranks of this node outnumber its processors.
  bool shares_processors() const { return shares_processors_; }
  /// Exchanges go through memory of the node.
  bool shares_memory() const { return board_ != nullptr; }

  /// Of each rank its bytes; valid until the next exchange.
  std::span<const std::span<const std::byte>> exchange(Purpose purpose, std::uint64_t decision,
                                                       std::span<const std::byte> own);
  /// What `make` returns in the first process, or throws: everywhere. The others wait as long as it takes.
  base::Bytes from_first(const std::function<base::Bytes()>& make);
  /// Of each rank its bytes.
  std::vector<base::Bytes> gather(const base::Bytes& own);

  /// That one of the processes was asked to end: the same everywhere, known from the next exchange on.
  const std::atomic<bool>& interrupt() const { return agreed_; }
  /// That this one was.
  bool is_interrupted_here() const { return interrupt_ != nullptr && interrupt_->load(std::memory_order_relaxed); }

  const std::atomic<bool>* interrupt_here() const { return interrupt_; }

  /// s that an exchange may take.
  void set_limit(double seconds) { limit_ = seconds; }
  /// Busy and waiting count from here.
  void restart_clock();
  double busy() const;
  double waiting() const { return std::chrono::duration<double>(waiting_).count(); }

  /// By rank, of the system that is run; empty until it is decided.
  struct Placement {
    std::vector<std::string> subsystems;
    std::vector<int> ranks;
    std::string by;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(subsystems, ranks, by);
    }
  };
  const Placement& placement() const { return placement_; }
  void place(Placement placement) { placement_ = std::move(placement); }
  /// Where FMUs lie unpacked on this node: by their files.
  std::map<std::string, std::string>& fmu_folders() { return fmu_folders_; }

  /// The process of a rank on this node has ended; of other nodes nothing is known.
  bool has_ended(int rank) const;
  /// Some of the others are gone: nothing is exchanged any more, and the end is not waited for.
  void abandon(const Error& why);
  /// After the job was asked to end: how long the launcher lets it live, with some reserve.
  static std::chrono::duration<double> patience();

  /// In order, together with all others; or with the error that ends this one alone.
  void finish();
  void leave(const Error& error);
  Communicator& communicator() { return *communicator_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Head {
    std::uint64_t number = 0;
    std::uint64_t decision = 0;
    Purpose purpose = Purpose::Data;
    std::uint32_t interrupted = 0;
    std::uint64_t size = 0;
  };

  void meet(bool may_share);
  void share_memory(bool may_share);
  void gather_heads(const Head& head, std::span<const std::byte> own);
  void read_board(const Head& head, std::span<const std::byte> own);
  void gather_rest(std::span<const std::byte> own);
  void transfer(const std::byte* own, std::vector<std::byte>& all);
  void lay_out();
  void wait(base::FunctionRef<bool()> is_done);
  void look_around(Clock::duration waited);
  std::optional<int> ended_peer() const;
  void check(const Head& own);
  [[noreturn]] void give_up(Error error, bool usable);
  Error parted(const Head& own) const;
  std::string name_of(int rank) const;

  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<NodeBoard> board_;  // null = MPI alone
  int rank_;
  int size_;
  const std::atomic<bool>* interrupt_;
  std::atomic<bool> agreed_{false};
  std::vector<Peer> peers_;
  bool shares_processors_ = false;
  double limit_ = 3600.0;
  bool patient_ = false;  // the exchange under way may take as long as it likes
  std::uint64_t number_ = 0;
  std::optional<Error> broken_;
  bool usable_ = true;  // no gathering is left behind
  bool ended_ = false;
  Placement placement_;
  std::map<std::string, std::string> fmu_folders_;

  // A block of each rank in the first gathering has this many bytes behind its head; more follow in a second one.
  std::vector<std::size_t> room_;
  std::vector<Head> heads_;
  std::vector<std::byte> sent_, received_, rest_;
  std::vector<base::Bytes> whole_;
  std::vector<std::span<const std::byte>> blocks_;
  std::vector<std::uint64_t> sizes_;
  std::vector<int> counts_, places_;  // for MPI
  Clock::time_point started_ = Clock::now();
  Clock::duration waiting_{};
  Clock::time_point looked_;
  std::optional<Clock::time_point> asked_;   // to end, as seen in this wait
  std::optional<Clock::time_point> missed_;  // a peer that has ended
};

}  // namespace entrain::ranks
