/// Which methods of `NSManagedObject` a class overrides, where a call for nothing would cost too much.
///
/// Objective-C's runtime would be asked. Here the class's table of methods is compared with that of `NSManagedObject`.
enum OverriddenMethods {
  private class Plain: NSManagedObject {}
  private class Validating: NSManagedObject {
    override func validateValue(_ value: UnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
      try super.validateValue(value, forKey: key)
      withExtendedLifetime(self) {}
    }
  }
  private class Awaking: NSManagedObject {
    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
      super.awake(fromSnapshotEvents: flags)
      withExtendedLifetime(self) {}
    }
  }

  /// Whether a class, or a class between it and `NSManagedObject`, overrides `validateValue(_:forKey:)`.
  ///
  /// True for all classes where the runtime's class layout is not the one known here. Then the method is called for
  /// nothing, which has the same result.
  static func includeValidateValue(_ type: NSManagedObject.Type) -> Bool { overrides(type, validateValue) }

  /// Whether a class, or a class between it and `NSManagedObject`, overrides `awake(fromSnapshotEvents:)`.
  static func includeAwakeFromSnapshot(_ type: NSManagedObject.Type) -> Bool { overrides(type, awake) }

  /// The place of a method in the tables of all managed classes, and what `NSManagedObject` has there.
  private struct Entry {
    let index: Int
    let base: UInt
  }

  private static let validateValue = entry(overriddenIn: Validating.self)
  private static let awake = entry(overriddenIn: Awaking.self)

  private static func overrides(_ type: NSManagedObject.Type, _ entry: Entry?) -> Bool {
    guard let entry else { return true }
    return word(entry.index, of: type) != entry.base
  }

  private static func entry(overriddenIn probe: NSManagedObject.Type) -> Entry? {
    let found = tableOfMethods.filter { index in
      let base = word(index, of: NSManagedObject.self)
      return word(index, of: Plain.self) == base && word(index, of: probe) != base
    }
    guard found.count == 1, let index = found.first else { return nil }
    return Entry(index: index, base: word(index, of: NSManagedObject.self))
  }

  /// The words of a class's metadata behind the fields that every class has.
  private static var tableOfMethods: Range<Int> {
    #if canImport(ObjectiveC)
      return 0..<0
    #else
      // Swift's class metadata without Objective-C: kind, superclass, flags, address point, size, alignment, size and
      // address point of the metadata itself, descriptor, destroyer of instance variables; then the methods.
      let metadata = unsafeBitCast(NSManagedObject.self as AnyClass, to: UnsafeRawPointer.self)
      let size = Int(metadata.load(fromByteOffset: 32, as: UInt32.self))
      let addressPoint = Int(metadata.load(fromByteOffset: 36, as: UInt32.self))
      let first = 7
      let end = (size - addressPoint) / MemoryLayout<UInt>.size
      return end > first && end < 1 << 16 ? first..<end : 0..<0
    #endif
  }

  private static func word(_ index: Int, of type: NSManagedObject.Type) -> UInt {
    unsafeBitCast(type as AnyClass, to: UnsafePointer<UInt>.self)[index]
  }
}
