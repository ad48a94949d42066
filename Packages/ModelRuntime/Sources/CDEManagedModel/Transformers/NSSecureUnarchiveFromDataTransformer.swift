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
    ///
    /// Property list classes come as Swift values, numbers as `NSNumber`, sets as `NSSet`.
    open override func transformedValue(_ value: Any?) -> Any? {
      guard let data = value as? Data else { return nil }
      let classes = Self.allowedTopLevelClasses
      switch KeyedArchive.contents(of: data, allowed: classes) {
      case .value(let value): return value
      case .otherClasses: return try? NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)
      case .refused, .damaged: return nil
      }
    }

    /// Archives a value; `nil` when it is nil or can't be archived securely.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
      guard let value else { return nil }
      if let data = KeyedArchive.data(of: value) { return data }
      guard Self.isArchivable(value) else { return nil }
      return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
    }

    /// Whether Foundation's archiver takes the value; asking beforehand matters because it ends the process
    /// over one that it does not take, and over decimal numbers.
    private static func isArchivable(_ value: Any) -> Bool {
      switch value {
      case is NSDecimalNumber, is Decimal: false
      case let array as [Any]: array.allSatisfy(isArchivable)
      case let dictionary as [AnyHashable: Any]:
        dictionary.allSatisfy { isArchivable($0.key.base) && isArchivable($0.value) }
      case let set as Set<AnyHashable>: set.allSatisfy { isArchivable($0.base) }
      case let object as NSObject: object is any NSSecureCoding
      case is String, is Date, is Data, is URL, is UUID, is NSNumber: true
      default: false
      }
    }
  }
#endif
