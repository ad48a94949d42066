/// A structure of SQLite's with state of ours behind it, in one piece of memory.
///
/// SQLite asks a virtual table for such structures, and gives their addresses back.
enum Extended<Base, State> {
  private static var offset: Int {
    let alignment = MemoryLayout<State>.alignment
    return (MemoryLayout<Base>.size + alignment - 1) / alignment * alignment
  }

  static func make(_ base: Base, _ state: State) -> UnsafeMutablePointer<Base> {
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: offset + MemoryLayout<State>.size,
      alignment: max(MemoryLayout<Base>.alignment, MemoryLayout<State>.alignment))
    (memory + offset).initializeMemory(as: State.self, to: state)
    return memory.initializeMemory(as: Base.self, to: base)
  }

  /// - Precondition: ``make(_:_:)`` returned the address.
  @inline(__always)
  static func state(_ base: UnsafeMutablePointer<Base>) -> UnsafeMutablePointer<State> {
    (UnsafeMutableRawPointer(base) + offset).assumingMemoryBound(to: State.self)
  }

  /// - Precondition: ``make(_:_:)`` returned the address, and nothing uses it any more.
  static func free(_ base: UnsafeMutablePointer<Base>) {
    state(base).deinitialize(count: 1)
    base.deallocate()
  }
}
