#include "outside/datagram.hpp"

#include <bit>
#include <cmath>

namespace entrain::outside {

static_assert(std::endian::native == std::endian::little);

std::optional<Datagram> parse_datagram(std::span<const std::byte> bytes) {
  Datagram datagram;
  auto& head = datagram.head;
  const DatagramHead expected;
  if (bytes.size() < sizeof(head)) return std::nullopt;
  std::memcpy(static_cast<void*>(&head), bytes.data(), sizeof(head));
  if (head.magic != expected.magic || head.version != expected.version || head.count > kMostValues) return std::nullopt;
  const auto kind = static_cast<std::uint16_t>(head.kind);
  const bool known = (kind >= 1 && kind <= 3) || kind == 17 || kind == 18;
  datagram.values = bytes.subspan(sizeof(head));
  if (!known || datagram.values.size() != head.count * sizeof(double)) return std::nullopt;
  if (!std::isfinite(head.time) || !std::isfinite(head.step)) return std::nullopt;
  for (std::size_t i = 0; i < head.count; ++i) {
    double value = 0.0;
    std::memcpy(&value, datagram.values.data() + i * sizeof(double), sizeof(value));
    if (!std::isfinite(value)) return std::nullopt;
  }
  return datagram;
}

std::span<const std::byte> write_datagram(DatagramHead head, std::span<const double> values, std::span<std::byte> to) {
  head.count = static_cast<std::uint32_t>(values.size());
  std::memcpy(to.data(), &head, sizeof(head));
  if (!values.empty()) std::memcpy(to.data() + sizeof(head), values.data(), values.size_bytes());
  return to.first(sizeof(head) + values.size_bytes());
}

}  // namespace entrain::outside
