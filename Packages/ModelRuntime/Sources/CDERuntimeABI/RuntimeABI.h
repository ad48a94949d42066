#ifndef CDE_RUNTIME_ABI_H
#define CDE_RUNTIME_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unwind.h>

// Entry points of the Swift runtime's stable ABI that no Swift declaration reaches, wrapped in functions of our own
// names because the compiler reserves the originals.
extern void *swift_tryRetain(void *object);
extern void *swift_retain_n(void *object, uint32_t count);
extern void *swift_unownedRetain(void *object);
extern void swift_unownedRelease(void *object);
extern void *swift_allocObject(const void *metadata, size_t size, size_t alignMask);

/// Takes a strong reference unless the object's deinit has begun; null then.
static inline void *cde_try_retain(const void *object) {
  return swift_tryRetain((void *)object);
}

/// Takes many strong references at the price of one.
static inline void cde_retain_many(const void *object, uint32_t count) {
  swift_retain_n((void *)object, count);
}

/// Keeps an object's memory, though not the object, until it is given back: so long `cde_try_retain` may be asked.
static inline void cde_keep_memory(const void *object) {
  swift_unownedRetain((void *)object);
}

static inline void cde_give_back_memory(const void *object) {
  swift_unownedRelease((void *)object);
}

/// Begins to fetch an object whose references are about to be counted, with its first stored properties, which
/// may lie in the next line of memory; any address will do.
static inline void cde_prefetch(const void *object) {
  __builtin_prefetch(object, 1);
  __builtin_prefetch((const char *)object + 40, 1);
}

/// Makes an object of another one's class with the same bytes behind the header, owned by the caller.
///
/// References among those bytes are copied without being retained.
static inline void *cde_clone(const void *object, size_t size, size_t alignMask) {
  const size_t header = 2 * sizeof(void *);
  char *made = swift_allocObject(*(void *const *)object, size, alignMask);
  memcpy(made + header, (const char *)object + header, size - header);
  return made;
}

// What compiled code calls for `object[keyPath: path] = value` if it does not know the path. `+=` and other changes in place call
// others.
extern void swift_setAtReferenceWritableKeyPath(void);
extern void swift_setAtWritableKeyPath(void);

typedef struct {
  int frames;
  int is_found;
} cde_frame_search;

static inline _Unwind_Reason_Code cde_visit_frame(struct _Unwind_Context *context, void *pointer) {
  cde_frame_search *search = (cde_frame_search *)pointer;
  // The address of a return may be that of the next function.
  const char *address = (const char *)_Unwind_GetIP(context) - 1;
  const void *function = _Unwind_FindEnclosingFunction((void *)address);
  if (function == (const void *)swift_setAtReferenceWritableKeyPath ||
      function == (const void *)swift_setAtWritableKeyPath) {
    search->is_found = 1;
    return _URC_END_OF_STACK;
  }
  return --search->frames > 0 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/// Whether the running getter was called by an assignment through a key path, which reads the old value before it calls the setter, and
/// drops it.
///
/// Looks at the innermost frames only: between the assignment and its getter stand few. A getter that is called by what the setter calls
/// has more frames above it. Takes about a microsecond.
static inline int cde_is_assigned_by_key_path(void) {
  cde_frame_search search = {14, 0};
  _Unwind_Backtrace(cde_visit_frame, &search);
  return search.is_found;
}

#ifdef __linux__

typedef struct {
  const char *start;
  size_t length;
} cde_section;

// The first fields of what the Swift runtime knows about a library or a program.
typedef struct {
  uintptr_t version;
  const void *base;
  const void *unused[2];
  cde_section protocols;
  cde_section conformances;
  cde_section types;
} cde_metadata_sections;

extern void swift_enumerateAllMetadataSections(
    bool (*body)(const cde_metadata_sections *sections, void *context), void *context);

typedef struct {
  const char *name;
  void (*found)(const char *module, void *context);
  void *context;
} cde_class_search;

// What a field leads to that holds the distance from its own place, in the lowest bit whether another pointer is between.
static inline const char *cde_follow(const int32_t *field) {
  if (*field == 0) return NULL;
  const char *place = (const char *)field + (*field & ~1);
  return *field & 1 ? *(const char *const *)place : place;
}

static inline bool cde_visit_sections(const cde_metadata_sections *sections, void *pointer) {
  const cde_class_search *search = (const cde_class_search *)pointer;
  // The layout of the sections has been the same in these.
  if (sections->version < 3 || sections->version > 5) return true;
  const int32_t *records = (const int32_t *)sections->types.start;
  const size_t count = sections->types.length / sizeof(int32_t);
  enum { module_kind = 0, class_kind = 16, kind_mask = 31 };
  for (size_t index = 0; index < count; index++) {
    // Type declarations of other images are behind a pointer, and are among the records of those.
    if (records[index] == 0 || (records[index] & 3) != 0) continue;
    const int32_t *type = (const int32_t *)((const char *)&records[index] + records[index]);
    if ((type[0] & kind_mask) != class_kind) continue;
    const char *name = (const char *)&type[2] + type[2];
    if (strcmp(name, search->name) != 0) continue;
    const int32_t *parent = (const int32_t *)cde_follow(&type[1]);
    if (parent == NULL || (parent[0] & kind_mask) != module_kind) continue;
    search->found((const char *)&parent[2] + parent[2], search->context);
  }
  return true;
}

/// Calls a function with the name of each module that has a class of this name at its top level.
static inline void cde_modules_with_class(
    const char *name, void (*found)(const char *module, void *context), void *context) {
  cde_class_search search = {name, found, context};
  swift_enumerateAllMetadataSections(cde_visit_sections, &search);
}

#else

static inline void cde_modules_with_class(
    const char *name, void (*found)(const char *module, void *context), void *context) {}

#endif

#endif
