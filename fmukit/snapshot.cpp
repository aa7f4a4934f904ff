#include "fmukit/snapshot.hpp"

#include <cstring>
#include <string>
#include <type_traits>

#include "entrain/error.hpp"

namespace entrain::fmukit {
namespace {

class SnapshotWriter {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(&value, sizeof value);
  }
  void put(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::uint8_t*>(data);
    bytes.insert(bytes.end(), first, first + size);
  }
  void put(const Value& value) {
    put(static_cast<std::uint8_t>(value.index()));
    std::visit(
        [this](const auto& held) {
          using Held = std::decay_t<decltype(held)>;
          if constexpr (std::is_same_v<Held, std::string>) {
            put(static_cast<std::uint64_t>(held.size()));
            put(held.data(), held.size());
          } else if constexpr (std::is_same_v<Held, Binary>) {
            put(static_cast<std::uint64_t>(held.bytes.size()));
            put(held.bytes.data(), held.bytes.size());
          } else {
            put(held);
          }
        },
        value);
  }

  std::vector<std::uint8_t> bytes;
};

class SnapshotReader {
 public:
  explicit SnapshotReader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  /// A count of things of `size` bytes that follow; checked before anything is allocated.
  std::size_t count(std::size_t size) {
    const auto count = get<std::uint64_t>();
    if (count > rest_.size() / size) fail();
    return static_cast<std::size_t>(count);
  }
  std::span<const std::uint8_t> take(std::size_t size) {
    if (size > rest_.size()) fail();
    const auto taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  Value value() {
    switch (get<std::uint8_t>()) {
      case 0: return get<double>();
      case 1: return get<std::int64_t>();
      case 2: return get<std::uint8_t>() != 0;
      case 3: {
        const auto text = take(count(1));
        return std::string(text.begin(), text.end());
      }
      case 4: return get<std::uint64_t>();
      case 5: {
        const auto bytes = take(count(1));
        return Binary{{bytes.begin(), bytes.end()}};
      }
      default: fail();
    }
  }
  void expect_end() const {
    if (!rest_.empty()) fail();
  }
  [[noreturn]] static void fail() {
    throw Error(ErrorCode::SubsystemFailed, "the bytes are no saved state of this FMU");
  }

 private:
  std::span<const std::uint8_t> rest_;
};

}  // namespace

std::vector<std::uint8_t> to_bytes(const Snapshot& snapshot, std::uint64_t key) {
  SnapshotWriter writer;
  writer.put(key);
  writer.put(snapshot.phase);
  writer.put(snapshot.ahead_degree);
  writer.put(snapshot.stop);
  writer.put(static_cast<std::uint64_t>(snapshot.numbers.size()));
  writer.put(snapshot.numbers.data(), snapshot.numbers.size() * sizeof(double));
  writer.put(static_cast<std::uint64_t>(snapshot.parameters->size()));
  for (const auto& parameter : *snapshot.parameters) writer.put(parameter);
  return std::move(writer.bytes);
}

Snapshot from_bytes(std::span<const std::uint8_t> bytes, std::uint64_t key) {
  SnapshotReader reader(bytes);
  if (reader.get<std::uint64_t>() != key) SnapshotReader::fail();
  Snapshot snapshot;
  snapshot.phase = reader.get<unsigned>();
  snapshot.ahead_degree = reader.get<int>();
  snapshot.stop = reader.get<Time>();
  snapshot.numbers.resize(reader.count(sizeof(double)));
  for (double& number : snapshot.numbers) number = reader.get<double>();
  std::vector<Value> parameters(reader.count(1));
  for (auto& parameter : parameters) parameter = reader.value();
  reader.expect_end();
  snapshot.parameters = std::make_shared<const std::vector<Value>>(std::move(parameters));
  return snapshot;
}

}  // namespace entrain::fmukit
