#pragma once

#include <cstddef>

/// What the plug-in libentrain_mpi.so offers: the calls of MPI that are used, so that nothing else is linked with it.
/// All but `poll` return 0, or a code of MPI.
struct EntrainMpi {
  int interface;  ///< kEntrainMpiInterface of the one that built it
  int (*begin)();
  int (*rank)();
  int (*size)();
  /// Gathers the block of each process everywhere; one at a time, ended by `poll`.
  int (*gather)(const void* own, const int* counts, const int* places, void* all);
  /// 1 when it is done, 0 when not, negative: a code of MPI with another sign.
  int (*poll)();
  /// Lets MPI do what is under way.
  int (*progress)();
  /// A message to one process; the memory is free again on return.
  int (*send)(const void* bytes, std::size_t size, int to);
  /// Whether a message of any process (-1) or this one waits: its size and its sender, else from = -1.
  int (*waiting)(int* from, std::size_t* size);
  int (*receive)(void* bytes, std::size_t size, int from);
  int (*end)();
  /// Text of a code of MPI; into `text`, with room for `size` letters.
  void (*explain)(int code, char* text, std::size_t size);
};

inline constexpr int kEntrainMpiInterface = 2;
inline constexpr const char* kEntrainMpiSymbol = "entrain_mpi";
