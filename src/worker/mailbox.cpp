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
                                                                                              "state",
                                                                                              "right_hand_side",
                                                                                              "outputs",
                                                                                              "output_rates",
                                                                                              "next_discontinuity",
                                                                                              "event_indicators",
                                                                                              "handle_event",
                                                                                              "complete_step",
                                                                                              "move_to"};

}  // namespace

const char* name_of(Operation operation) {
  return kOperationNames[static_cast<std::size_t>(operation)];
}

void Parcel::put(const base::Bytes& bytes) {
  if (bytes.size() > box_.bytes.size) box_.bytes = memory_.allocate(end_, std::max(kLeastParcel, 2 * bytes.size()));
  if (!bytes.empty()) std::memcpy(memory_.map(box_.bytes), bytes.data(), bytes.size());
  box_.bytes_used = bytes.size();
}

std::span<const std::byte> Parcel::content() {
  if (box_.bytes_used == 0) return {};
  return {memory_.map(box_.bytes), box_.bytes_used};
}

}  // namespace entrain::worker
