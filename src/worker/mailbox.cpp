#include "worker/mailbox.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace entrain::worker {
namespace {

constexpr std::size_t kLeastParcel = 4096;

constexpr std::array<const char*, static_cast<std::size_t>(Operation::Count)> kOperationNames{"loading",
                                                                                              "unloading",
                                                                                              "set_start",
                                                                                              "capabilities",
                                                                                              "warnings",
                                                                                              "initialize",
                                                                                              "initialize",
                                                                                              "initialize",
                                                                                              "evaluate",
                                                                                              "step",
                                                                                              "output_derivatives",
                                                                                              "states",
                                                                                              "derivatives",
                                                                                              "linearize",
                                                                                              "save",
                                                                                              "serialize",
                                                                                              "deserialize",
                                                                                              "reset",
                                                                                              "next_event",
                                                                                              "set_parameter",
                                                                                              "read",
                                                                                              "write",
                                                                                              "read_inner",
                                                                                              "refusal",
                                                                                              "reading",
                                                                                              "capabilities",
                                                                                              "share_events",
                                                                                              "dependencies",
                                                                                              "enter_events",
                                                                                              "leave_events",
                                                                                              "update",
                                                                                              "set_inputs",
                                                                                              "read_outputs",
                                                                                              "activate",
                                                                                              "read_active",
                                                                                              "read_interval",
                                                                                              "shift",
                                                                                              "state",
                                                                                              "right_hand_side",
                                                                                              "outputs",
                                                                                              "output_rates",
                                                                                              "next_discontinuity",
                                                                                              "event_indicators",
                                                                                              "handle_event",
                                                                                              "complete_step",
                                                                                              "move_to"};

/// What the other process may write at any time is read once, then looked at.
std::uint64_t read_once(const std::uint64_t& shared) {
  return *static_cast<const volatile std::uint64_t*>(&shared);
}

base::Segment place_of(const Mailbox& box) {
  return {read_once(box.bytes.offset), read_once(box.bytes.size)};
}

}  // namespace

const char* name_of(Operation operation) {
  const auto index = static_cast<std::size_t>(operation);
  return index < kOperationNames.size() ? kOperationNames[index] : "unknown";
}

void Parcel::put(const base::Bytes& bytes) {
  base::Segment place = place_of(box_);
  if (bytes.size() > place.size) {
    place = memory_.allocate(end_, std::max(kLeastParcel, 2 * bytes.size()));
    box_.bytes = place;
  }
  if (!bytes.empty()) std::memcpy(memory_.map(place), bytes.data(), bytes.size());
  box_.bytes_used = bytes.size();
}

std::span<const std::byte> Parcel::content() {
  const std::uint64_t used = read_once(box_.bytes_used);
  if (used == 0) return {};
  base::Segment place = place_of(box_);
  place.size = std::max(place.size, used);  // more than there is: refused
  return {memory_.map(place), used};
}

}  // namespace entrain::worker
