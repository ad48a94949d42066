#ifndef CDE_TASK_ABI_H
#define CDE_TASK_ABI_H

#include <stdint.h>

/// A serial executor as the Swift runtime passes it. The identity of the executor that belongs to no actor is zero.
typedef struct {
  uintptr_t identity;
  uintptr_t implementation;
} cde_executor;

// An entry point of the Swift runtime that no Swift declaration reaches without a warning, wrapped in a function of our
// own name because the compiler reserves the original.
extern cde_executor swift_task_getCurrentExecutor(void) __attribute__((swiftcall));

/// The identity of the executor whose job the thread runs; zero outside of a job, and in one that belongs to no actor.
static inline uintptr_t cde_current_executor(void) {
  return swift_task_getCurrentExecutor().identity;
}

#endif
