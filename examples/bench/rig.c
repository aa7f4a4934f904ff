/* The other side of a bench in C: a mass on a spring, moved by the force that arrives, answers with its motion.
 *
 *     cc -O2 -o rig examples/bench/rig.c && ./rig 9002 9001 &
 *     entrain run examples/bench
 *
 * Arguments: its own port and that of the run, both on loopback. The datagram is described in docs/real_time.md;
 * little-endian, as all machines that Entrain runs on. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct datagram {
  char magic[4]; /* "ENTR" */
  uint16_t version, kind;
  uint64_t sequence, answers, run;
  double time, step;
  uint32_t count, reserved;
  double values[2];
};
enum { BEGIN = 1, STEP = 2, END = 3, READY = 17, OUTPUTS = 18, HEAD = 56 };

static struct sockaddr_in loopback(const char* port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int main(int argc, char** argv) {
  const double mass = 1.0, spring = 1000.0, damper = 0.1;
  double x = 0.0, v = -1.0;
  uint64_t sent = 0;
  if (argc != 3) return 2;
  struct sockaddr_in own = loopback(argv[1]), run = loopback(argv[2]);
  int s = socket(AF_INET, SOCK_DGRAM, 0);
  if (bind(s, (struct sockaddr*)&own, sizeof own) != 0 || connect(s, (struct sockaddr*)&run, sizeof run) != 0) return 1;
  for (;;) {
    struct datagram d;
    ssize_t size = recv(s, &d, sizeof d, 0);
    if (size < HEAD || memcmp(d.magic, "ENTR", 4) != 0 || d.version != 1) continue; /* also: no run listens yet */
    if (d.kind == END) return 0;
    if (d.kind == BEGIN) {
      x = 0.0;
      v = -1.0;
    }
    if (d.kind == STEP &&
        d.count == 1) { /* a real rig moves by itself: it sets its actuator and reads its sensors here */
      v += d.step / mass * (d.values[0] - spring * x - damper * v);
      x += d.step * v;
    }
    d.kind = d.kind == BEGIN ? READY : OUTPUTS;
    d.time += d.step; /* of the values; a rig that answers with what it measures now leaves it as it is */
    d.answers = d.sequence;
    d.sequence = ++sent;
    d.count = 2;
    d.values[0] = x;
    d.values[1] = v;
    send(s, &d, sizeof d, 0);
  }
}
