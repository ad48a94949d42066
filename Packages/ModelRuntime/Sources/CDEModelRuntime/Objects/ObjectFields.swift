internal import CDEStore

#if DEBUG
  /// Reads an object's fields in its memory, because unoptimised code counts a reference for each use of an object.
  ///
  /// A registry reads objects under its lock, and their last references may be given back on other threads meanwhile. The counted
  /// reference would then be the last one, and the object's deinit would wait for the lock that this thread holds.
  struct ObjectFields {
    /// The distances of the fields from the object's address; -1 before the first object is known.
    private var (keyOffset, bindingOffset, flagsOffset) = (-1, -1, -1)

    /// Finds the fields in an object that the caller keeps alive.
    mutating func find(in object: NSManagedObject) {
      if keyOffset >= 0 { return }
      let start = Borrowed(object).address
      func distance(_ field: UnsafeMutableRawPointer) -> Int { field - start }
      keyOffset = withUnsafeMutablePointer(to: &object._key) { distance($0) }
      flagsOffset = withUnsafeMutablePointer(to: &object._flags) { distance($0) }
      // An uncounted reference has no address of its own. It is declared before the key.
      bindingOffset = keyOffset - MemoryLayout<UnsafeRawPointer>.size
      let binding = start.load(fromByteOffset: bindingOffset, as: UnsafeRawPointer.self)
      assert(
        (0..<1024).contains(flagsOffset) && binding == UnsafeRawPointer(Borrowed(object._binding).address),
        "A field is not where it is declared.")
    }

    func key(_ object: Borrowed<NSManagedObject>) -> Int64 { object.address.load(fromByteOffset: keyOffset, as: Int64.self) }

    /// The registry's model keeps the binding alive.
    func root(_ object: Borrowed<NSManagedObject>) -> RootIndex {
      let binding = object.address.load(fromByteOffset: bindingOffset, as: UnsafeRawPointer.self)
      return Borrowed<EntityBinding>(at: binding).with(\.root)
    }

    func isRealized(_ object: Borrowed<NSManagedObject>) -> Bool {
      object.address.load(fromByteOffset: flagsOffset, as: NSManagedObject.Flags.self).isDisjoint(with: [.fault, .gone])
    }
  }
#else
  /// Reads an object's fields. Optimised code counts no references for that.
  struct ObjectFields {
    @inline(__always)
    func find(in object: NSManagedObject) {}

    @inline(__always)
    func key(_ object: Borrowed<NSManagedObject>) -> Int64 { object.with(\._key) }

    @inline(__always)
    func root(_ object: Borrowed<NSManagedObject>) -> RootIndex { object.with { $0._binding.root } }

    @inline(__always)
    func isRealized(_ object: Borrowed<NSManagedObject>) -> Bool { object.with(\.isRealized) }
  }
#endif
