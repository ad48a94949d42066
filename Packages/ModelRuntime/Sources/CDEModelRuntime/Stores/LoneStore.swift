internal import Synchronization

/// The only store of a coordinator, for look-ups that must not take the coordinator's lock.
final class LoneStore: Sendable {
  /// The address of its handle; 0 for none or several stores.
  private let address = Atomic<UInt>(0)

  private static func address(_ handle: StoreHandle) -> UInt {
    UInt(bitPattern: Borrowed(handle).address)
  }

  func update(_ handles: [StoreHandle]) {
    address.store(handles.count == 1 ? Self.address(handles[0]) : 0, ordering: .releasing)
  }

  // The caller retains the handle, so no other handle can have its address.
  @inline(__always)
  func isThis(_ handle: StoreHandle) -> Bool { address.load(ordering: .acquiring) == Self.address(handle) }
}
