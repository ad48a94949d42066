internal import CDERuntimeABI

/// A strong reference, unless the object's deinit has begun.
func tryRetain(_ object: UnsafeRawPointer) -> UnsafeMutableRawPointer? { cde_try_retain(object) }

/// A reference from a table to an object that takes itself out of the table in its deinit.
///
/// Replaces a weak reference. From the first weak reference on, the runtime counts an object's references
/// beside the object, which takes twice as long each time. Used under the lock that the deinit takes to leave
/// the table. A strong reference made under the lock must be released outside of it, or that deinit may wait
/// for itself.
struct BackReference<Object: AnyObject>: Equatable, @unchecked Sendable {
  // Guard: the lock of the table.
  private let pointer: UnsafeRawPointer

  init(_ object: Object) { pointer = UnsafeRawPointer(Borrowed(object).address) }

  /// The object, or nil once its deinit has begun.
  var object: Object? { tryRetain(pointer).map { Borrowed<Object>(at: $0).takeOwnership() } }
}
