#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "entrain/variable.hpp"

namespace entrain::outside {

/// What a datagram is about. Those of the run ask, those of the rig answer.
enum class DatagramKind : std::uint16_t {
  Begin = 1,    ///< run: a new run; its inputs at the start
  Step = 2,     ///< run: inputs from `time` on, for `step`
  End = 3,      ///< run: it is over
  Ready = 17,   ///< rig: answers Begin; outputs at the start
  Outputs = 18  ///< rig: answers Step
};

/// The head of every datagram, as it is sent: little-endian, docs/real_time.md. `count` doubles follow.
struct DatagramHead {
  std::array<char, 4> magic{'E', 'N', 'T', 'R'};
  std::uint16_t version = 1;
  DatagramKind kind = DatagramKind::Begin;
  std::uint64_t sequence = 0;  ///< of the sender, from 1, in the order of sending
  std::uint64_t answers = 0;   ///< rig: the sequence number that it answers
  std::uint64_t run = 0;       ///< chosen by the run, returned by the rig
  double time = 0.0;           ///< simulated s, of the values
  double step = 0.0;           ///< simulated s
  std::uint32_t count = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(DatagramHead) == 56);

/// UDP carries 65507 bytes.
inline constexpr std::size_t kMostValues = (65507 - sizeof(DatagramHead)) / sizeof(double);
inline constexpr std::size_t kLongestDatagram = sizeof(DatagramHead) + kMostValues * sizeof(double);

/// One that was received; the values lie in the bytes.
struct Datagram {
  DatagramHead head;
  std::span<const std::byte> values;

  void read(std::span<double> to) const {
    if (!to.empty()) std::memcpy(to.data(), values.data(), to.size_bytes());
  }
};

/// Nothing for bytes that are no datagram: another length, magic, version or kind, a time or a value that is not
/// finite.
std::optional<Datagram> parse_datagram(std::span<const std::byte> bytes);

/// Writes it into `to`, which has room for it; returns what is to be sent.
std::span<const std::byte> write_datagram(DatagramHead head, std::span<const double> values, std::span<std::byte> to);

}  // namespace entrain::outside
