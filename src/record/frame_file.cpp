#include "record/frame_file.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "base/csv.hpp"

namespace entrain::recording {
namespace {

using Octets = std::span<const std::uint8_t>;

/// Operations of CAN.
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 10> kOperations{{{0x01, "format error"},
                                                                                  {0x10, "transmit"},
                                                                                  {0x11, "transmit FD"},
                                                                                  {0x12, "transmit XL"},
                                                                                  {0x20, "confirm"},
                                                                                  {0x30, "arbitration lost"},
                                                                                  {0x31, "bus error"},
                                                                                  {0x40, "configuration"},
                                                                                  {0x41, "status"},
                                                                                  {0x42, "wakeup"}}};
constexpr std::size_t kHeader = 8;  // code and length of an operation

std::uint32_t number_at(Octets bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number |= static_cast<std::uint32_t>(bytes[at + i]) << (8 * i);
  return number;
}

std::string hex(Octets bytes) {
  std::string text;
  for (const auto byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

/// The operations that follow each other in the bytes; none when they are something else.
std::vector<Octets> operations_in(Octets bytes) {
  std::vector<Octets> operations;
  while (!bytes.empty()) {
    if (bytes.size() < kHeader) return {};
    const std::size_t length = number_at(bytes, 4);
    if (length < kHeader || length > bytes.size()) return {};
    operations.push_back(bytes.first(length));
    bytes = bytes.subspan(length);
  }
  return operations;
}

/// Where the payload of a transmit operation begins; before it are its length, flags and the id.
std::size_t payload_of(std::uint32_t code) {
  return code == 0x10 ? 16 : code == 0x11 ? 17 : code == 0x12 ? 22 : 0;
}

std::string columns_of(Octets operation) {
  const std::uint32_t code = number_at(operation, 0);
  std::string name = fmt::format("0x{:02x}", code);
  for (const auto& [known, word] : kOperations) {
    if (known == code) name = word;
  }
  const bool has_id = (code >= 0x10 && code <= 0x31) && operation.size() >= kHeader + 4;
  const std::size_t payload = payload_of(code);
  const Octets data = payload > 0 && operation.size() >= payload ? operation.subspan(payload)
                                                                 : operation.subspan(has_id ? kHeader + 4 : kHeader);
  return fmt::format("{},{},{},{}", name, has_id ? fmt::to_string(number_at(operation, kHeader)) : "", data.size(),
                     hex(data));
}

}  // namespace

void FrameFile::communicated(const Sample& sample, const RunSummary&) {
  if (sample.frames.empty()) return;
  if (!file_) {
    file_ = std::make_unique<AppendFile>(path_);
    file_->append({"time,from,to,operation,id,length,data\n"});
  }
  for (const auto& frame : sample.frames) {
    const std::string head = fmt::format("{},{},{},", frame.t, base::csv_cell(frame.from), base::csv_cell(frame.to));
    const auto operations = operations_in(frame.bytes.bytes);
    std::string rows;
    for (const auto& operation : operations) rows += head + columns_of(operation) + "\n";
    if (operations.empty()) rows = fmt::format("{},,{},{}\n", head, frame.bytes.bytes.size(), hex(frame.bytes.bytes));
    file_->append({rows});
  }
}

std::vector<std::byte> FrameFile::memory() const {
  return base::to_bytes(file_ ? file_->complete_bytes() : std::uint64_t{0});
}

void FrameFile::resume(const Sample&, const RunSummary&, std::span<const std::byte> memory) {
  std::uint64_t keep = 0;
  if (!memory.empty()) base::from_bytes(memory, keep);
  std::error_code missing;
  if (keep > 0 && std::filesystem::file_size(path_, missing) >= keep && !missing)
    file_ = std::make_unique<AppendFile>(path_, keep);
}

}  // namespace entrain::recording
