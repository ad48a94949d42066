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
      case .otherClasses:
        // The look-up of the other classes tried it once already.
        do { return try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data) } catch {
          return nil
        }
      case .refused, .damaged: return nil
      }
    }

    /// Archives a value; `nil` when it is nil, can't be archived securely or holds a class that is not allowed.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
      guard let value, let (data, isPropertyList) = Self.archive(value) else { return nil }
      // What the classes of property lists make is allowed unless a subclass narrows them.
      if isPropertyList, type(of: self) == NSSecureUnarchiveFromDataTransformer.self { return data }
      switch KeyedArchive.contents(of: data, allowed: Self.allowedTopLevelClasses) {
      case .value, .otherClasses: return data
      case .refused, .damaged: return nil
      }
    }

    private static func archive(_ value: Any) -> (data: Data, isPropertyList: Bool)? {
      if let data = KeyedArchive.data(of: value) { return (data, true) }
      guard isArchivable(value) else { return nil }
      do {
        return (
          try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true), false
        )
      } catch {
        // The one way of a transformer to say so is to make nothing of the value.
        return nil
      }
    }

    /// The class in a value that keeps it from being archived, or read again; nil where that is not the reason.
    final func refusedClass(in value: Any) -> String? {
      guard let (data, _) = Self.archive(value),
        case .refused(let name) = KeyedArchive.contents(of: data, allowed: Self.allowedTopLevelClasses)
      else { return nil }
      return name
    }

    /// The class in an archive that is not allowed; nil where that is not what is wrong with it.
    final func refusedClass(inArchive data: Data) -> String? {
      guard case .refused(let name) = KeyedArchive.contents(of: data, allowed: Self.allowedTopLevelClasses)
      else {
        return nil
      }
      return name
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
