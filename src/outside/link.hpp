#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "entrain/system_description.hpp"

namespace entrain::outside {

/// Instants of CLOCK_MONOTONIC in nanoseconds.
std::int64_t instant_now() noexcept;
std::int64_t instant_after(std::int64_t from, Duration seconds) noexcept;

/// Carries datagrams between a run and a rig. Never waits when it sends. Not thread-safe.
class Link {
 public:
  virtual ~Link() = default;
  /// False when it cannot be sent: it is lost.
  virtual bool send(std::span<const std::byte> bytes) noexcept = 0;
  /// The next one, waited for until `deadline`, or until a signal arrives; empty = none. Valid until the next call.
  virtual std::span<const std::byte> receive(std::int64_t deadline) noexcept = 0;
  /// Datagrams from elsewhere that were kept away, as far as they are known.
  virtual std::uint64_t foreign() noexcept { return 0; }
  /// Of the other side, for messages.
  virtual const std::string& address() const noexcept = 0;
};

enum class LinkEnd { Run, Rig };

/// As the part outside is described, of either side. Throws Error{SubsystemFailed}, rig-link-failed.
std::unique_ptr<Link> open_link(const OutsideDescription& description, LinkEnd end);
std::unique_ptr<Link> open_udp(const OutsideDescription& description, LinkEnd end);
std::unique_ptr<Link> open_shared(const OutsideDescription& description, LinkEnd end);

}  // namespace entrain::outside
