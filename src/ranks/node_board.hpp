#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/shared_memory.hpp"

namespace entrain::ranks {

/// Memory that the ranks of one node share, in which each of them has a place for its block (docs/adr/0122). Blocks of
/// two exchanges in a row lie apart: who writes the next one does not disturb who still reads.
class NodeBoard {
 public:
  /// Bytes of one block.
  static constexpr std::size_t kRoom = std::size_t{1} << 18U;

  /// Where it is, and a random number that lies in it: what else is found there is no board, and stays as it is.
  struct Address {
    std::string file;
    std::uint64_t token = 0;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(file, token);
    }
  };

  /// Made by one rank; others join it by its address. Throws std::system_error.
  NodeBoard(int ranks, int rank);
  NodeBoard(const Address& address, int ranks, int rank);
  /// As long as this process and this object live.
  Address address() const;

  /// The block of this rank; `number` counts the exchanges from 1 on. The first part is written whole.
  void write(std::uint64_t number, std::span<const std::byte> first, std::span<const std::byte> rest);
  /// All blocks of this exchange are there.
  bool is_complete(std::uint64_t number) const;
  /// Valid until this rank writes the next one.
  const std::byte* block(std::uint64_t number, int rank) const;

 private:
  static constexpr std::size_t kLine = 64;
  struct alignas(kLine) Counter {
    std::atomic<std::uint64_t> written;
  };
  std::size_t size() const { return size_of(ranks_); }
  static std::size_t size_of(int ranks);
  std::uint64_t& token() const;
  std::byte* place(std::uint64_t number, int rank) const;

  int ranks_;
  int rank_;
  base::SharedMemory memory_;
  std::byte* blocks_;
  Counter* counters_;
};

}  // namespace entrain::ranks
