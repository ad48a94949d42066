#ifndef CDE_UNWIND_H
#define CDE_UNWIND_H

#include <stdint.h>
#include <unwind.h>

typedef struct {
  uint64_t *addresses;
  int count;
  int limit;
} cde_captured_frames;

static inline _Unwind_Reason_Code cde_capture_frame(struct _Unwind_Context *context, void *pointer) {
  cde_captured_frames *frames = (cde_captured_frames *)pointer;
  if (frames->count == frames->limit) return _URC_END_OF_STACK;
  uint64_t address = (uint64_t)_Unwind_GetIP(context);
  if (address == 0) return _URC_END_OF_STACK;
  frames->addresses[frames->count++] = address;
  return _URC_NO_REASON;
}

/// Writes the return addresses of the calling thread's frames, the innermost first, and returns how many there are, at most `limit`.
///
/// Reads the tables that exceptions need, which every platform's Swift code has. Takes about a microsecond for 24 frames;
/// the runtime's `Backtrace.capture` takes several times as long.
static inline int cde_capture_frames(uint64_t *addresses, int limit) {
  cde_captured_frames frames = {addresses, 0, limit};
  _Unwind_Backtrace(cde_capture_frame, &frames);
  return frames.count;
}

#endif
