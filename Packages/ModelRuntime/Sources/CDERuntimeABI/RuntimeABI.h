#ifndef CDE_RUNTIME_ABI_H
#define CDE_RUNTIME_ABI_H

// An entry point of the Swift runtime's stable ABI that no Swift declaration reaches, wrapped in a function of our own
// name because the compiler reserves the original.
extern void *swift_tryRetain(void *object);

/// Takes a strong reference unless the object's deinit has begun; null then.
static inline void *cde_try_retain(const void *object) {
  return swift_tryRetain((void *)object);
}

#endif
