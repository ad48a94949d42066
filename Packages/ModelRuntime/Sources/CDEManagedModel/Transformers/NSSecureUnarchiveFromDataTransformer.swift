#if !canImport(ObjectiveC)
  internal import Foundation

  /// Turns securely coded archives into values and values into archives.
  ///
  /// Note the direction, which is Foundation's: transforming *unarchives*, the reverse archives.
  nonisolated open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
    /// The classes that an archive may hold at its top: those of property lists, and URLs, UUIDs and null.
    /// Override to allow others.
    open class var allowedTopLevelClasses: [AnyClass] {
      [
        NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
        NSURL.self, NSUUID.self, NSNull.self,
      ]
    }

    /// The name under which this transformer is registered; a subclass that is registered under another
    /// overrides it.
    open class var transformerName: NSValueTransformerName { .secureUnarchiveFromDataTransformerName }

    open override class func transformedValueClass() -> AnyClass { NSObject.self }

    /// Unarchives data; `nil` when it is no archive or holds a class that is not allowed.
    open override func transformedValue(_ value: Any?) -> Any? {
      guard let data = value as? Data, Self.holdsOnlyAllowedClasses(data) else { return nil }
      return try? NSKeyedUnarchiver.unarchivedObject(ofClasses: Self.allowedTopLevelClasses, from: data)
    }

    /// Archives a value; `nil` when it is nil or can't be archived securely.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
      guard let value, Self.isArchivable(value) else { return nil }
      return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
    }

    /// Whether every class that the archive names is allowed or inherits from one that is. Looked up
    /// beforehand, at the price of reading the property list twice, because Foundation's unarchiver on
    /// Linux ends the process over a class that is not, whatever its failure policy says.
    private static func holdsOnlyAllowedClasses(_ data: Data) -> Bool {
      guard
        let archive = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
        let objects = archive["$objects"] as? [Any]
      else { return false }
      let allowed = Set(allowedTopLevelClasses.map { NSStringFromClass($0) })
      return objects.allSatisfy { object in
        guard let classes = (object as? [String: Any])?["$classes"] as? [String] else { return true }
        return !allowed.isDisjoint(with: classes)
      }
    }

    /// Whether the archiver takes the value; asking beforehand matters because it ends the process over one
    /// that it does not take.
    private static func isArchivable(_ value: Any) -> Bool {
      switch value {
      case let array as [Any]: array.allSatisfy(isArchivable)
      case let dictionary as [AnyHashable: Any]:
        dictionary.allSatisfy { isArchivable($0.key.base) && isArchivable($0.value) }
      case let set as Set<AnyHashable>: set.allSatisfy { isArchivable($0.base) }
      case let object as NSObject: object is any NSSecureCoding
      case is String, is Date, is Data, is URL, is UUID, is Decimal, is NSNumber: true
      default: false
      }
    }
  }
#endif
