/* The points of the rod in rod_fmu.c, shared with the test. */
#pragma once

enum { kRodPoints = 200 };
