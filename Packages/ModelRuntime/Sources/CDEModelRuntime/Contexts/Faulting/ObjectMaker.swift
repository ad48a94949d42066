internal import CDERuntimeABI
internal import CDEStore

/// Makes the objects for the rows of one batch.
///
/// The class's initialiser makes the first object, as it makes every new object. If the class overrides no initialiser
/// and has no stored properties of its own, the others are copies of the first: the result is the same, at a fraction of
/// the cost.
struct ObjectMaker {
  private let context: NSManagedObjectContext
  private let binding: EntityBinding
  private let type: NSManagedObject.Type
  private let batch: RowBatch
  private let flags: NSManagedObject.Flags
  private var prototype: NSManagedObject?
  /// The shape of the copies, once a second object is asked for; nil if the class allows none.
  private var shape: InstanceShape??
  /// Copies made whose reference to the batch is not counted yet.
  private var copies: UInt32 = 0

  init(
    _ context: NSManagedObjectContext, _ binding: EntityBinding, batch: RowBatch,
    flags: NSManagedObject.Flags
  ) {
    self.context = context
    self.binding = binding
    type = binding.objectClass
    self.batch = batch
    self.flags = flags
  }

  /// Counts the reference to the batch that each copy owns.
  ///
  /// - Precondition: no other code can use, or release, the copies yet.
  mutating func finish() {
    if copies > 0 { cde_retain_many(Borrowed(batch).address, copies) }
    copies = 0
  }

  mutating func make(key: Int64, row: Int) -> NSManagedObject {
    let row = Int32(truncatingIfNeeded: row)
    guard let prototype, let shape = knownShape() else {
      let made = context.materialize(binding, type, key: key, batch: batch, row: row, flags: flags)
      if prototype == nil, made.isBare, made._flags == flags, made._key == key, made._row == row {
        prototype = made
      }
      return made
    }
    let copy = cde_clone(
      Borrowed(prototype).address, shape.size, shape.alignmentMask)
    let made = Borrowed<NSManagedObject>(at: copy!).takeOwnership()
    copies += 1
    made._key = key
    made._row = row
    return made
  }
}

extension ObjectMaker {
  private mutating func knownShape() -> InstanceShape? {
    if let shape { return shape }
    let found = type.isPlain ? InstanceShape.ofBareObjects(type) : nil
    shape = .some(found)
    return found
  }
}

extension NSManagedObject {
  /// Whether no class up to `NSManagedObject` has an initialiser of its own for fetched objects.
  fileprivate static var isPlain: Bool {
    var level: NSManagedObject.Type = self
    while level != NSManagedObject.self {
      guard level.__cdPlainClass == level, let parent = _getSuperclass(level) as? NSManagedObject.Type else {
        return false
      }
      level = parent
    }
    return true
  }

  /// Whether the object is nothing but a view of its row: its initialiser stored nothing else.
  fileprivate final var isBare: Bool {
    _overlay == nil && _identity == nil && _registrar == nil && _readBefore == 0 && _saveOrdinal == 0
  }
}

/// How large the instances of a class are.
struct InstanceShape: Equatable {
  let size: Int
  let alignmentMask: Int

  /// The shape of a class whose instances hold what `NSManagedObject` holds and nothing else; nil for others,
  /// and where the runtime's class layout is not the one known here.
  static func ofBareObjects(_ type: NSManagedObject.Type) -> InstanceShape? {
    guard let base, let shape = read(type), shape == base else { return nil }
    return shape
  }

  private static let base: InstanceShape? = isLayoutKnown ? read(NSManagedObject.self) : nil

  private static func read(_ type: AnyClass) -> InstanceShape? {
    #if canImport(ObjectiveC)
      return nil
    #else
      // Swift's class metadata without Objective-C: kind, superclass, flags, address point, size, alignment.
      let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
      let words = 2 * MemoryLayout<UnsafeRawPointer>.size
      return InstanceShape(
        size: Int(metadata.load(fromByteOffset: words + 8, as: UInt32.self)),
        alignmentMask: Int(metadata.load(fromByteOffset: words + 12, as: UInt16.self)))
    #endif
  }

  private class Empty {}
  private final class WithThreeWords: Empty {
    let words = (0, 0, 0)
  }

  /// Whether classes of known sizes read as such.
  private static var isLayoutKnown: Bool {
    let header = 2 * MemoryLayout<UnsafeRawPointer>.size
    let mask = MemoryLayout<UnsafeRawPointer>.alignment - 1
    return read(Empty.self) == InstanceShape(size: header, alignmentMask: mask)
      && read(WithThreeWords.self)
        == InstanceShape(size: header + 3 * MemoryLayout<Int>.size, alignmentMask: mask)
  }
}
