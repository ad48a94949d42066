@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Synchronization

/// The property of an entity that a key path into its model's paths names, and how it is stored.
///
/// Evaluating such a key path and looking up the name is the largest part of the cost of reading a snapshot.
/// A key path in source is one object until the process ends. Its property is therefore found once and cached
/// by the address of the key path. Reading takes no lock, because an entry is complete before its address is
/// published, and is never removed.
final class PathPlaces: @unchecked Sendable {
  // Guard: `adding` protects changes. Readers use only entries published by the atomic addresses.
  struct Place {
    let slot: SlotIndex
    let method: StorageMethod
  }

  private struct Table {
    let addresses: UnsafeMutablePointer<Atomic<UInt>>
    let places: UnsafeMutablePointer<Place>
  }

  private static let bits = 10
  private static var capacity: Int { 1 << bits }
  /// Further key paths are looked up each time. Generic code may make new key paths at each call. They must
  /// neither fill memory nor make look-ups slow.
  private static var limit: Int { capacity / 4 * 3 }

  private let table = Atomic<UInt>(0)
  private let adding = Lock(0)

  deinit {
    guard let table = current() else { return }
    for index in 0..<Self.capacity {
      let address = table.addresses[index].load(ordering: .relaxed)
      guard let path = UnsafeRawPointer(bitPattern: address) else { continue }
      Borrowed<AnyKeyPath>(at: path).release()
    }
    table.addresses.deinitialize(count: Self.capacity).deallocate()
  }

  func find(_ path: AnyKeyPath) -> Place? {
    guard let table = current() else { return nil }
    let address = Self.address(path)
    var index = Self.start(address)
    while true {
      switch table.addresses[index].load(ordering: .acquiring) {
      case address: return table.places[index]
      case 0: return nil
      default: index = (index + 1) & (Self.capacity - 1)
      }
    }
  }

  func add(_ path: AnyKeyPath, _ place: Place) {
    let address = Self.address(path)
    adding.withLock { count in
      guard count < Self.limit else { return }
      let table = current() ?? allocate()
      var index = Self.start(address)
      while true {
        switch table.addresses[index].load(ordering: .relaxed) {
        case address: return
        case 0:
          // Retained, because otherwise another key path could be made at its address.
          Borrowed(path).retain()
          (table.places + index).initialize(to: place)
          table.addresses[index].store(address, ordering: .releasing)
          count += 1
          return
        default: index = (index + 1) & (Self.capacity - 1)
        }
      }
    }
  }

  private func current() -> Table? {
    guard let start = UnsafeMutableRawPointer(bitPattern: table.load(ordering: .acquiring)) else {
      return nil
    }
    let addresses = start.assumingMemoryBound(to: Atomic<UInt>.self)
    // The places follow the addresses in memory, so no second pointer must be loaded.
    let places = (start + Self.capacity * MemoryLayout<Atomic<UInt>>.stride).assumingMemoryBound(
      to: Place.self)
    return Table(addresses: addresses, places: places)
  }

  private func allocate() -> Table {
    let bytes = Self.capacity * (MemoryLayout<Atomic<UInt>>.stride + MemoryLayout<Place>.stride)
    let start = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: MemoryLayout<Place>.alignment)
    let addresses = start.bindMemory(to: Atomic<UInt>.self, capacity: Self.capacity)
    for index in 0..<Self.capacity { (addresses + index).initialize(to: Atomic(0)) }
    (start + Self.capacity * MemoryLayout<Atomic<UInt>>.stride)
      .bindMemory(to: Place.self, capacity: Self.capacity)
    table.store(UInt(bitPattern: start), ordering: .releasing)
    return current()!
  }

  private static func address(_ path: AnyKeyPath) -> UInt {
    UInt(bitPattern: Borrowed(path).address)
  }

  private static func start(_ address: UInt) -> Int {
    Int(truncatingIfNeeded: (address >> 4 &* 0x9E37_79B9_7F4A_7C15) >> UInt(UInt.bitWidth - bits))
  }
}
