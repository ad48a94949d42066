internal import CDERuntimeABI

/// A strong reference, unless the object's deinit has begun.
func tryRetain(_ object: UnsafeRawPointer) -> UnsafeMutableRawPointer? { cde_try_retain(object) }

/// A reference from a table to an object that removes itself from the table in its deinit.
///
/// Replaces a weak reference. After the first weak reference the runtime counts an object's references
/// outside the object, which takes twice as long each time. Used under the table's lock, which the deinit
/// also takes. A strong reference made under the lock must be released outside of it, otherwise the deinit
/// may wait for its own lock.
struct BackReference<Object: AnyObject>: Equatable, @unchecked Sendable {
  // Guard: the lock of the table.
  private let pointer: UnsafeRawPointer

  init(_ object: Object) { pointer = UnsafeRawPointer(Borrowed(object).address) }

  /// The object, or nil once its deinit has begun.
  var object: Object? { tryRetain(pointer).map { Borrowed<Object>(at: $0).takeOwnership() } }
}
