#include "ranks/distributed_system.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "worker/messages.hpp"

namespace entrain::ranks {
namespace {

/// Before the bytes of one subsystem.
struct Piece {
  std::uint32_t subsystem = 0;
  std::uint32_t size = 0;
};
constexpr std::uint32_t kMessages = ~std::uint32_t{0};

void append(base::Bytes& to, const void* from, std::size_t size) {
  const std::size_t end = to.size();
  to.resize(end + size);
  if (size > 0) std::memcpy(to.data() + end, from, size);
}

/// An error, or that there was none.
void put_error(CallRecord& record, const Error* error) {
  const std::uint8_t threw = error != nullptr ? 1 : 0;
  record.put(&threw, sizeof threw);
  if (error == nullptr) return;
  const auto bytes = base::to_bytes(base::ErrorRecord(*error));
  const std::uint64_t size = bytes.size();
  record.put(&size, sizeof size);
  record.put(bytes.data(), bytes.size());
}

/// The error, if there was one.
std::optional<Error> take_error(CallRecord& record) {
  std::uint8_t threw = 0;
  std::memcpy(&threw, record.take(sizeof threw).data(), sizeof threw);
  if (threw == 0) return std::nullopt;
  std::uint64_t size = 0;
  std::memcpy(&size, record.take(sizeof size).data(), sizeof size);
  base::ErrorRecord error;
  base::from_bytes(record.take(size), error);
  return error.error();
}

/// Where the subsystem lives. Calls in it are not recorded; what it throws is, and returned.
std::exception_ptr work_in_silence(CallRecord& record, base::FunctionRef<void()> work) {
  std::exception_ptr failure;
  std::optional<Error> error;
  record.be_silent(true);
  try {
    work();
  } catch (const Error& thrown) {
    error = thrown;
    failure = std::current_exception();
  } catch (const std::exception& thrown) {
    error.emplace(ErrorCode::SubsystemFailed, thrown.what());
    failure = std::make_exception_ptr(*error);
  } catch (...) {
    error.emplace(ErrorCode::SubsystemFailed, "an exception of an unknown type");
    failure = std::make_exception_ptr(*error);
  }
  record.be_silent(false);
  put_error(record, error ? &*error : nullptr);
  return failure;
}

/// Mostly one: subsystems that lie beside each other live in different ranks.
void copy_numbers(void* to, const void* from, std::size_t count) {
  if (count == 1) {
    std::memcpy(to, from, sizeof(double));
  } else {
    std::memcpy(to, from, count * sizeof(double));
  }
}

}  // namespace

void refuse_record() {
  throw Error(ErrorCode::FileFailed, {FactCode::SavedDataForeign});
}

std::span<const std::byte> CallRecord::take(std::size_t size) {
  if (size > rest_.size()) refuse_record();
  const auto part = rest_.first(size);
  rest_ = rest_.subspan(size);
  return part;
}

DistributedSystem::DistributedSystem(RankLink& link, std::vector<int> ranks, Logging log)
    : link_(link), log_(std::move(log)), ranks_(std::move(ranks)) {
  for (const int rank : ranks_) records_.emplace_back(rank == link.rank());
}

Logging DistributedSystem::logging() {
  if (link_.rank() == 0 || !log_.handler) return log_;
  Logging here = log_;
  here.handler = [this](const LogMessage& message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(message);
    has_messages_.store(true, std::memory_order_relaxed);
  };
  return here;
}

void DistributedSystem::open(std::uint64_t decision, std::span<const SubsystemId> batch) {
  decision_ = decision;
  batch_ = batch;
  in_section_ = true;
}

std::span<const std::span<const std::byte>> DistributedSystem::exchange_block(Purpose purpose, std::uint64_t decision) {
  bytes_sent_ += block_.size();
  return link_.exchange(purpose, decision, block_);
}

void DistributedSystem::exchange() {
  block_.clear();
  for (const SubsystemId s : batch_) {
    if (is_here(s)) pack(s);
  }
  pack_messages();
  unpack(exchange_block(Purpose::Section, decision_));
}

void DistributedSystem::close() {
  in_section_ = false;
  for (const SubsystemId s : batch_) {
    if (!is_here(s) && !records_[s].is_read()) refuse_record();
  }
}

void DistributedSystem::exchange_call(SubsystemId s, std::uint64_t decision) {
  block_.clear();
  if (is_here(s)) pack(s);
  pack_messages();
  unpack(exchange_block(Purpose::Call, decision * 0x100000001B3U + static_cast<std::size_t>(s)));
}

double DistributedSystem::number_of(SubsystemId s, double given) {
  CallRecord& record = records_[s];
  if (record.is_here()) {
    record.put(&given, sizeof given);
    return given;
  }
  double number = 0.0;
  std::memcpy(&number, record.take(sizeof number).data(), sizeof number);
  return number;
}

void DistributedSystem::lay_out(std::span<const std::size_t> first_outputs) {
  outputs_.assign(static_cast<std::size_t>(link_.size()), {});
  for (std::size_t s = 0; s < ranks_.size(); ++s) {
    auto& [runs, all] = outputs_[static_cast<std::size_t>(ranks_[s])];
    const std::size_t count = first_outputs[s + 1] - first_outputs[s];
    if (count == 0) continue;
    all += count;
    if (!runs.empty() && runs.back().first + runs.back().count == first_outputs[s]) {
      runs.back().count += count;
    } else {
      runs.push_back({first_outputs[s], count});
    }
  }
}

std::span<const SubsystemId> DistributedSystem::exchange_outputs(std::uint64_t decision, std::span<double> outputs,
                                                                 std::span<const SubsystemId> unusual) {
  const auto& own = outputs_[static_cast<std::size_t>(link_.rank())];
  block_.resize(own.count * sizeof(double));
  auto* to = block_.data();
  for (const Run& run : own.runs) {
    copy_numbers(to, outputs.data() + run.first, run.count);
    to += run.count * sizeof(double);
  }
  for (const SubsystemId s : unusual) {
    const auto number = static_cast<std::uint64_t>(s);
    append(block_, &number, sizeof number);
  }
  const auto blocks = exchange_block(Purpose::Outputs, decision);
  unusual_.clear();
  for (std::size_t r = 0; r < blocks.size(); ++r) {
    const auto& [runs, count] = outputs_[r];
    if (count * sizeof(double) > blocks[r].size()) refuse_record();
    if (static_cast<int>(r) != link_.rank()) {
      const auto* from = blocks[r].data();
      for (const Run& run : runs) {
        copy_numbers(outputs.data() + run.first, from, run.count);
        from += run.count * sizeof(double);
      }
    }
    auto rest = blocks[r].subspan(count * sizeof(double));
    for (; rest.size() >= sizeof(std::uint64_t); rest = rest.subspan(sizeof(std::uint64_t))) {
      std::uint64_t number = 0;
      std::memcpy(&number, rest.data(), sizeof number);
      if (number >= records_.size()) refuse_record();
      unusual_.emplace_back(number);
    }
  }
  std::sort(unusual_.begin(), unusual_.end());
  return unusual_;
}

void DistributedSystem::exchange_numbers(std::uint64_t decision, std::span<double> numbers) {
  block_.clear();
  for (std::size_t s = 0; s < ranks_.size(); ++s) {
    if (ranks_[s] == link_.rank()) append(block_, &numbers[s], sizeof(double));
  }
  const auto blocks = exchange_block(Purpose::Data, decision);
  std::vector<std::size_t> taken(blocks.size());
  for (std::size_t s = 0; s < ranks_.size(); ++s) {
    const auto r = static_cast<std::size_t>(ranks_[s]);
    if (taken[r] + sizeof(double) > blocks[r].size()) refuse_record();
    std::memcpy(&numbers[s], blocks[r].data() + taken[r], sizeof(double));
    taken[r] += sizeof(double);
  }
}

StepReport DistributedSystem::report_of(SubsystemId s, base::FunctionRef<StepReport()> made) {
  CallRecord& record = records_[s];
  const auto put = [&record](const base::Bytes& bytes) {
    const std::uint64_t size = bytes.size();
    record.put(&size, sizeof size);
    record.put(bytes.data(), bytes.size());
  };
  StepReport report;
  if (record.is_here()) {
    try {
      report = made();
      put(base::to_bytes(false, report.reached, report.outcome, report.stop_requested, report.event));
    } catch (const Error& error) {
      put(base::to_bytes(true, base::ErrorRecord(error)));
      throw;
    }
    return report;
  }
  std::uint64_t size = 0;
  std::memcpy(&size, record.take(sizeof size).data(), sizeof size);
  base::ByteReader read(record.take(size));
  bool threw = false;
  read(threw);
  if (threw) {
    base::ErrorRecord error;
    read(error);
    throw error.error();
  }
  read(report.reached, report.outcome, report.stop_requested, report.event);
  return report;
}

void DistributedSystem::at_home(SubsystemId s, base::FunctionRef<void()> work,
                                std::span<const std::span<std::byte>> results) {
  CallRecord& record = records_[s];
  if (record.is_here()) {
    const auto failure = work_in_silence(record, work);
    for (const auto& result : results) record.put(result.data(), result.size());
    if (failure) std::rethrow_exception(failure);
    return;
  }
  const auto error = take_error(record);
  for (const auto& result : results) {
    const auto bytes = record.take(result.size());
    if (!bytes.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
  }
  if (error) throw Error(*error);
}

base::Bytes DistributedSystem::bytes_of(SubsystemId s, base::FunctionRef<base::Bytes()> make) {
  CallRecord& record = records_[s];
  base::Bytes bytes;
  std::uint64_t size = 0;
  if (record.is_here()) {
    const auto failure = work_in_silence(record, [&] { bytes = make(); });
    if (failure) std::rethrow_exception(failure);
    size = bytes.size();
    record.put(&size, sizeof size);
    record.put(bytes.data(), bytes.size());
    return bytes;
  }
  if (const auto error = take_error(record)) throw Error(*error);
  std::memcpy(&size, record.take(sizeof size).data(), sizeof size);
  const auto taken = record.take(size);
  return {taken.begin(), taken.end()};
}

void DistributedSystem::pack(SubsystemId s) {
  const auto bytes = records_[s].written();
  if (bytes.empty()) return;
  const Piece piece{static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(bytes.size())};
  append(block_, &piece, sizeof piece);
  append(block_, bytes.data(), bytes.size());
  records_[s].forget();
}

void DistributedSystem::pack_messages() {
  if (!has_messages_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  has_messages_.store(false, std::memory_order_relaxed);
  const auto bytes = base::to_bytes(std::exchange(messages_, {}));
  const Piece piece{kMessages, static_cast<std::uint32_t>(bytes.size())};
  append(block_, &piece, sizeof piece);
  append(block_, bytes.data(), bytes.size());
}

void DistributedSystem::unpack(std::span<const std::span<const std::byte>> blocks) {
  for (std::size_t r = 0; r < blocks.size(); ++r) {
    if (static_cast<int>(r) == link_.rank()) continue;
    for (auto rest = blocks[r]; !rest.empty();) {
      Piece piece;
      if (rest.size() < sizeof piece) refuse_record();
      std::memcpy(&piece, rest.data(), sizeof piece);
      rest = rest.subspan(sizeof piece);
      if (piece.size > rest.size()) refuse_record();
      const auto bytes = rest.first(piece.size);
      rest = rest.subspan(piece.size);
      if (piece.subsystem == kMessages) {
        pass_on(bytes);
      } else if (piece.subsystem < records_.size()) {
        records_[piece.subsystem].fill(bytes);
      } else {
        refuse_record();
      }
    }
  }
}

void DistributedSystem::pass_on(std::span<const std::byte> messages) const {
  if (link_.rank() != 0 || !log_.handler) return;
  std::vector<LogMessage> list;
  base::from_bytes(messages, list);
  for (const auto& message : list) log_.handler(message);
}

}  // namespace entrain::ranks
