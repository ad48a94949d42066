internal import CDERuntimeABI

/// A strong reference, unless the object's deinit has begun.
func tryRetain(_ object: UnsafeRawPointer) -> UnsafeMutableRawPointer? { cde_try_retain(object) }

/// A reference from a table to an object that takes itself out of the table in its deinit.
///
/// What a weak reference is for, but such a reference has the object's references counted beside the object from
/// then on, which takes twice as long each time. Used under the lock that the deinit takes to leave the table; a
/// strong reference made under it must be given up outside, or that deinit may wait for itself.
struct BackReference<Object: AnyObject>: Equatable, @unchecked Sendable {
  // Guard: the lock of the table.
  private let pointer: UnsafeRawPointer

  init(_ object: Object) { pointer = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque()) }

  /// The object, or nil once its deinit has begun.
  var object: Object? { tryRetain(pointer).map { Unmanaged<Object>.fromOpaque($0).takeRetainedValue() } }
}
