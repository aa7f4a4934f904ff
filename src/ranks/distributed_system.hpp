#pragma once

#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "coupling/shared_calls.hpp"
#include "entrain/simulation.hpp"
#include "ranks/rank_link.hpp"

namespace entrain::ranks {

/// Throws: what was recorded is not of the same calls.
[[noreturn]] void refuse_record();

/// What calls of one subsystem brought: recorded where it lives, read elsewhere.
class CallRecord {
 public:
  explicit CallRecord(bool here) : here_(here) {}
  bool is_here() const { return here_; }

  void put(const void* from, std::size_t size) {
    const std::size_t end = bytes_.size();
    bytes_.resize(end + size);
    if (size > 0) std::memcpy(bytes_.data() + end, from, size);
  }
  std::span<const std::byte> written() const { return bytes_; }
  void forget() { bytes_.clear(); }

  void fill(std::span<const std::byte> received) { rest_ = received; }
  /// Throws where there is no more: it was not written by the same calls.
  std::span<const std::byte> take(std::size_t size);
  bool is_read() const { return rest_.empty(); }

  /// Calls are made and not recorded: what they bring stays here.
  bool is_silent() const { return silent_; }
  void be_silent(bool silent) { silent_ = silent; }

 private:
  bool here_;
  bool silent_ = false;
  base::Bytes bytes_;
  std::span<const std::byte> rest_;
};

/// The subsystems of one system and where they live: calls of them in all processes become calls of one.
class DistributedSystem final : public coupling::SharedCalls {
 public:
  /// `ranks`: of each subsystem. Borrows the link. `log`: what subsystems of this process log comes by `logging`, and
  /// reaches the first process with the next exchange.
  DistributedSystem(RankLink& link, std::vector<int> ranks, Logging log);

  RankLink& link() { return link_; }
  bool is_here(SubsystemId s) const override { return records_[s].is_here(); }
  void open(std::uint64_t decision, std::span<const SubsystemId> batch) override;
  void exchange() override;
  void close() override;
  double number_of(SubsystemId s, double given) override;
  void lay_out(std::span<const std::size_t> first_outputs) override;
  std::span<const SubsystemId> exchange_outputs(std::uint64_t decision, std::span<double> outputs,
                                                std::span<const SubsystemId> unusual) override;
  void exchange_numbers(std::uint64_t decision, std::span<double> numbers) override;
  StepReport report_of(SubsystemId s, base::FunctionRef<StepReport()> made) override;
  void at_home(SubsystemId s, base::FunctionRef<void()> work, std::span<const std::span<std::byte>> results) override;
  base::Bytes bytes_of(SubsystemId s, base::FunctionRef<base::Bytes()> make) override;

  CallRecord& record(SubsystemId s) { return records_[s]; }
  bool in_section() const { return in_section_; }
  /// A call of `s` outside of sections.
  void exchange_call(SubsystemId s, std::uint64_t decision);
  /// For the subsystems that are made here.
  Logging logging();
  /// By all exchanges of this system, without their heads.
  std::uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  /// Outputs that lie beside each other and belong to one rank.
  struct Run {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  struct RankOutputs {
    std::vector<Run> runs;
    std::size_t count = 0;
  };
  std::span<const std::span<const std::byte>> exchange_block(Purpose purpose, std::uint64_t decision);
  void pack(SubsystemId s);
  void unpack(std::span<const std::span<const std::byte>> blocks);
  void pack_messages();
  void pass_on(std::span<const std::byte> messages) const;

  RankLink& link_;
  std::vector<CallRecord> records_;
  Logging log_;
  bool in_section_ = false;
  std::uint64_t decision_ = 0;
  std::span<const SubsystemId> batch_;
  base::Bytes block_;
  std::uint64_t bytes_sent_ = 0;
  std::vector<int> ranks_;
  std::vector<RankOutputs> outputs_;  // by rank
  std::vector<SubsystemId> unusual_;
  std::mutex mutex_;  // of the messages
  std::vector<LogMessage> messages_;
  std::atomic<bool> has_messages_{false};
};

}  // namespace entrain::ranks
