/// An uncounted reference. Counting is an atomic operation, and a save would do dozens of them for each
/// object.
///
/// The only type of such references. Each use states what keeps the object alive meanwhile.
///
/// - Precondition: another reference keeps the object alive, from the making of this one to its last use.
@frozen @usableFromInline
struct Borrowed<Object: AnyObject> {
  @usableFromInline let reference: Unmanaged<Object>

  @inlinable @inline(__always)
  init(_ object: Object) { reference = .passUnretained(object) }

  /// The object at an address.
  @inlinable @inline(__always)
  init(at address: UnsafeRawPointer) { reference = .fromOpaque(address) }

  /// Passes the object to a closure without counting a reference.
  @inlinable @inline(__always)
  func with<Result>(_ body: (Object) throws -> Result) rethrows -> Result {
    try reference._withUnsafeGuaranteedRef(body)
  }

  /// The object, with a reference counted.
  @inlinable @inline(__always)
  var object: Object { reference.takeUnretainedValue() }

  @inlinable @inline(__always)
  var address: UnsafeMutableRawPointer { reference.toOpaque() }

  /// Counts a reference that ``release()`` or ``takeOwnership()`` returns.
  func retain() { _ = reference.retain() }

  func release() { reference.release() }

  /// The object, with the reference that was counted before.
  func takeOwnership() -> Object { reference.takeRetainedValue() }
}

extension ArraySlice where Element: AnyObject {
  /// Passes the objects to a closure without counting a reference to each of them.
  func withBorrowed<Result>(_ body: (UnsafeBufferPointer<Borrowed<Element>>) -> Result) -> Result {
    withUnsafeBufferPointer { $0.withMemoryRebound(to: Borrowed<Element>.self, body) }
  }

  /// Visits the objects without counting references. Counting would be most of the work of a short visit.
  @inline(__always)
  func forEachBorrowed(_ body: (Element) -> Void) {
    withBorrowed { objects in
      for object in objects { object.with(body) }
    }
  }
}
