#if !canImport(ObjectiveC)
  internal import Foundation

  /// Decodes values from securely coded archives, and encodes values as archives.
  ///
  /// As in Foundation, transforming *unarchives* and the reverse transformation archives.
  nonisolated open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
    /// The classes that an archive may contain at its top level: those of property lists, and URLs, UUIDs and
    /// null. Override it to allow other classes.
    open class var allowedTopLevelClasses: [AnyClass] {
      [
        NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
        NSURL.self, NSUUID.self, NSNull.self,
      ]
    }

    /// The name under which this transformer is registered. A subclass that is registered under another name
    /// overrides it.
    open class var transformerName: NSValueTransformerName { .secureUnarchiveFromDataTransformerName }

    open override class func transformedValueClass() -> AnyClass { NSObject.self }

    /// Unarchives data; `nil` when it is no archive or contains a class that is not allowed.
    ///
    /// Property list classes are returned as Swift values, numbers as `NSNumber`, sets as `NSSet`.
    open override func transformedValue(_ value: Any?) -> Any? {
      guard let data = value as? Data else { return nil }
      let classes = Self.allowedTopLevelClasses
      switch KeyedArchive.contents(of: data, allowed: classes) {
      case .value(let value): return value
      case .otherClasses:
        // The look-up of the other classes already read the archive once.
        do { return try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data) } catch {
          return nil
        }
      case .refused, .damaged: return nil
      }
    }

    /// Archives a value; `nil` when the value is nil, can't be archived securely or contains a class that is
    /// not allowed.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
      guard let value, let (data, isPropertyList) = Self.archive(value) else { return nil }
      // Values of property list classes are allowed, unless a subclass allows fewer classes.
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
        // A transformer can only report this by returning nil.
        return nil
      }
    }

    /// The class in a value that prevents archiving or reading; nil if another reason prevents it.
    final func refusedClass(in value: Any) -> String? {
      guard let (data, _) = Self.archive(value),
        case .refused(let name) = KeyedArchive.contents(of: data, allowed: Self.allowedTopLevelClasses)
      else { return nil }
      return name
    }

    /// The class in an archive that is not allowed; nil if the archive has another problem.
    final func refusedClass(inArchive data: Data) -> String? {
      guard case .refused(let name) = KeyedArchive.contents(of: data, allowed: Self.allowedTopLevelClasses)
      else {
        return nil
      }
      return name
    }

    /// Whether Foundation's archiver accepts the value. It is checked before, because the archiver ends the
    /// process for a value that it does not accept, and for decimal numbers.
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
