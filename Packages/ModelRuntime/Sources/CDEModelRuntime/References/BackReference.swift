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

/// A reference that is nil once the deinit of its object has begun. It keeps the object's memory until it is set again.
///
/// Replaces a weak reference where the holder lives about as long as the object; see ``BackReference`` for what a weak one costs.
@_spi(CDE) public struct MemoryReference: @unchecked Sendable {
  // Guard: that of the object that has the reference.
  private var pointer: UnsafeRawPointer?

  public init() {}

  /// The object, unless its deinit has begun.
  public var object: AnyObject? {
    pointer.flatMap(tryRetain).map { Borrowed<AnyObject>(at: $0).takeOwnership() }
  }

  /// Whether the object is a certain one, which exists.
  public func isTo(_ object: AnyObject) -> Bool { pointer == UnsafeRawPointer(Borrowed(object).address) }

  /// Refers to an object from now on, or to none.
  public mutating func refer(to object: AnyObject?) {
    if let object { cde_keep_memory(Borrowed(object).address) }
    if let pointer { cde_give_back_memory(pointer) }
    pointer = object.map { UnsafeRawPointer(Borrowed($0).address) }
  }
}
