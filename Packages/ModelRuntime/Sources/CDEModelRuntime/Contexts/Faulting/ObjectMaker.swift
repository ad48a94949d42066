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

/// A class whose objects have stored properties of their own, which hold no counted references in an object that was just made.
public protocol CDEBareWhenMade: NSManagedObject {}

/// Makes objects without a context as copies of one.
@_spi(CDE) public struct LooseObjects: @unchecked Sendable {
  // Guard: the object is only read, and never changes.
  private let prototype: NSManagedObject
  private let shape: InstanceShape

  /// Nil if the objects of the class can't be copied.
  ///
  /// - Parameter prototype: an object without a context that has no values and is never given any.
  public init?(copying prototype: NSManagedObject) {
    guard prototype.isLoose, prototype.isBare, prototype._flags == .ownsBinding,
      type(of: prototype).isPlain, let shape = InstanceShape.ofBareObjects(type(of: prototype))
    else { return nil }
    self.prototype = prototype
    self.shape = shape
  }

  /// Makes an object of the same entity, with the default values.
  public func make() -> NSManagedObject {
    let copy = cde_clone(Borrowed(prototype).address, shape.size, shape.alignmentMask)
    Borrowed(prototype._batch).retain()
    Borrowed(prototype._binding.model).retain()
    return Borrowed<NSManagedObject>(at: copy!).takeOwnership()
  }
}

/// Makes instances of a class without an initialiser: of one that inherits from none and has a known size.
@_spi(CDE) public struct BareInstances: Sendable {
  private let shape: InstanceShape
  /// The class, and no bytes behind it.
  private let template: [UInt]

  /// Nil if the instances have other stored properties than some bytes behind the header.
  public init?(of type: AnyClass, bytes: Int) {
    let header = 2 * MemoryLayout<UInt>.size
    guard _getSuperclass(type) == nil,
      let shape = InstanceShape.of(type), shape.size == header + bytes
    else { return nil }
    self.shape = shape
    template =
      [unsafeBitCast(ObjectIdentifier(type), to: UInt.self)]
      + Array(repeating: 0, count: 1 + (bytes + MemoryLayout<UInt>.size - 1) / MemoryLayout<UInt>.size)
  }

  /// Makes an instance, whose bytes a closure initialises.
  @inline(__always)
  public func make(_ initialise: (UnsafeMutableRawPointer) -> Void) -> AnyObject {
    let made = template.withUnsafeBufferPointer {
      cde_clone($0.baseAddress!, shape.size, shape.alignmentMask)!
    }
    initialise(made + 2 * MemoryLayout<UInt>.size)
    return Borrowed<AnyObject>(at: made).takeOwnership()
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
    guard let base, let shape = read(type) else { return nil }
    if shape == base { return shape }
    return shape.alignmentMask == base.alignmentMask && type is any CDEBareWhenMade.Type ? shape : nil
  }

  /// The shape of a class's instances; nil where the runtime's class layout is not the one known here.
  static func of(_ type: AnyClass) -> InstanceShape? { base == nil ? nil : read(type) }

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
