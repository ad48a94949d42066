/// Objects by identity, in the order in which they were added.
///
/// A few objects are searched one by one. More objects are found by their addresses.
struct ObjectList<Object: AnyObject> {
  /// Removed objects leave a gap until the table is rebuilt.
  private var places: [Object?] = []
  /// Open addressing over the objects' addresses. An entry is a position, or `free`. Empty for a few objects.
  private var table: [Int32] = []
  private(set) var count = 0

  private static var free: Int32 { -1 }
  private static var handful: Int { 8 }

  var isEmpty: Bool { count == 0 }

  var objects: [Object] { places.compactMap { $0 } }

  func contains(_ object: Object) -> Bool { place(of: object) != nil }

  /// Whether a condition holds for one of the objects. Makes no list of them.
  func contains(where condition: (Object) -> Bool) -> Bool {
    places.contains { $0.map(condition) ?? false }
  }

  /// - Returns: whether the object was added.
  @discardableResult
  mutating func append(_ object: Object) -> Bool {
    if place(of: object) != nil { return false }
    if places.count >= Self.handful, (places.count + 1) * 2 > table.count { rebuild() }
    if !table.isEmpty { table[freeEntry(for: Self.address(object))] = Int32(places.count) }
    places.append(object)
    count += 1
    return true
  }

  /// - Returns: whether the object was removed.
  @discardableResult
  mutating func remove(_ object: Object) -> Bool {
    guard let place = place(of: object) else { return false }
    // The table may still refer to this position, which is then empty.
    places[place] = nil
    count -= 1
    if count == 0 { removeAll() }
    return true
  }

  mutating func removeAll() {
    places = []
    table = []
    count = 0
  }

  mutating func removeAll(where isUnwanted: (Object) -> Bool) {
    for object in objects where isUnwanted(object) { remove(object) }
  }

  private mutating func rebuild() {
    if count < places.count { places = places.filter { $0 != nil } }
    var capacity = 32
    while capacity < count * 4 { capacity *= 2 }
    table = Array(repeating: Self.free, count: capacity)
    for (place, object) in places.enumerated() {
      table[freeEntry(for: Self.address(object!))] = Int32(place)
    }
  }

  private static func address(_ object: Object) -> UInt {
    UInt(bitPattern: Borrowed(object).address)
  }

  /// The start of the search for an address.
  private func start(_ address: UInt) -> Int {
    // Objects are at least 16 bytes apart, and often adjacent.
    Int(truncatingIfNeeded: ((address >> 4) &* 0x9E37_79B9_7F4A_7C15) >> 32) & (table.count - 1)
  }

  private func freeEntry(for address: UInt) -> Int {
    var entry = start(address)
    while table[entry] != Self.free { entry = (entry + 1) & (table.count - 1) }
    return entry
  }

  private func place(of object: Object) -> Int? {
    let address = Self.address(object)
    // As words, so that the comparison retains nothing.
    return places.withUnsafeBufferPointer { places in
      places.withMemoryRebound(to: UInt.self) { places in
        if table.isEmpty { return places.firstIndex(of: address) }
        var entry = start(address)
        while table[entry] != Self.free {
          if places[Int(table[entry])] == address { return Int(table[entry]) }
          entry = (entry + 1) & (table.count - 1)
        }
        return nil
      }
    }
  }
}
