// libentrain_mpi.so: the only part of Entrain that is linked with MPI, loaded under a launcher alone (docs/adr/0081).
#define OMPI_SKIP_MPICXX 1  // the interface for C alone
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "ranks/mpi_plugin.hpp"

namespace {

constexpr int kTag = 81;
MPI_Comm all = MPI_COMM_NULL;
MPI_Request under_way = MPI_REQUEST_NULL;
MPI_Message arrived = MPI_MESSAGE_NULL;

/// A communicator of our own, whose errors come back as codes.
int begin() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  int provided = 0;
  if (initialized == 0) {
    // Faults are watched by the program; where processes share a processor, waiting ones let the others run.
    ::setenv("OMPI_MCA_opal_signal", "", 0);
    const char* here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    if (here != nullptr && std::atoi(here) > ::sysconf(_SC_NPROCESSORS_ONLN))
      ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    if (const int failed = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided)) return failed;
  }
  if (const int failed = MPI_Comm_dup(MPI_COMM_WORLD, &all)) return failed;
  return MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
}

int rank() {
  int number = 0;
  MPI_Comm_rank(all, &number);
  return number;
}

int size() {
  int number = 1;
  MPI_Comm_size(all, &number);
  return number;
}

int gather(const void* own, const int* counts, const int* places, void* to) {
  return MPI_Iallgatherv(own, counts[rank()], MPI_BYTE, to, counts, places, MPI_BYTE, all, &under_way);
}

int poll() {
  int done = 0;
  if (const int failed = MPI_Test(&under_way, &done, MPI_STATUS_IGNORE)) return -failed;
  return done == 0 ? 0 : 1;
}

/// A look for what is never sent: a look that finds something makes no progress.
int progress() {
  int found = 0;
  return MPI_Iprobe(MPI_ANY_SOURCE, kTag + 1, all, &found, MPI_STATUS_IGNORE);
}

int send(const void* bytes, std::size_t count, int to) {
  if (count > std::numeric_limits<int>::max()) return MPI_ERR_COUNT;
  return MPI_Send(bytes, static_cast<int>(count), MPI_BYTE, to, kTag, all);
}

int waiting(int* from, std::size_t* count) {
  int found = 0;
  MPI_Status status;
  *from = -1;
  if (const int failed = MPI_Improbe(MPI_ANY_SOURCE, kTag, all, &found, &arrived, &status)) return failed;
  if (found == 0) return 0;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  *from = status.MPI_SOURCE;
  *count = static_cast<std::size_t>(bytes);
  return 0;
}

int receive(void* bytes, std::size_t count, int /*from*/) {
  return MPI_Mrecv(bytes, static_cast<int>(count), MPI_BYTE, &arrived, MPI_STATUS_IGNORE);
}

int end() {
  return MPI_Finalize();
}

void explain(int code, char* text, std::size_t room) {
  char words[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, words, &length);
  const std::size_t count = std::min(room - 1, static_cast<std::size_t>(length));
  std::memcpy(text, words, count);
  text[count] = '\0';
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const EntrainMpi* entrain_mpi() {
  static constexpr EntrainMpi kCalls{
      kEntrainMpiInterface, begin, rank, size, gather, poll, progress, send, waiting, receive, end, explain};
  return &kCalls;
}
