internal import Foundation

/// A property that holds a value.
nonisolated public class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
  // Guard of @unchecked Sendable: as inherited, mutable only until the model is in use.

  /// What the attribute holds.
  public var attributeType = NSAttributeType.undefinedAttributeType { willSet { requireMutable() } }

  /// The value that new objects start with. It reads back as the Swift value that was stored; whether it fits
  /// ``attributeType`` is checked when a coordinator first uses the model.
  public var defaultValue: Any? { willSet { requireMutable() } }

  /// For transformable attributes: the name under which a `ValueTransformer` is registered. `nil` means
  /// secure unarchiving.
  public var valueTransformerName: String? { willSet { requireMutable() } }

  /// Name of the class of the attribute's values. The type decides unless one was set, which makes sense for
  /// transformable attributes only.
  public var attributeValueClassName: String? {
    get { storedValueClassName ?? attributeType.valueClassName }
    set {
      requireMutable()
      storedValueClassName = newValue
    }
  }
  private var storedValueClassName: String?

  /// Whether the store may keep large values in files of their own.
  public var allowsExternalBinaryDataStorage = false { willSet { requireMutable() } }

  /// Whether the history keeps the last value of a deleted object.
  public var preservesValueInHistoryOnDeletion = false { willSet { requireMutable() } }

  override func makeCopy() -> NSPropertyDescription {
    let result = NSAttributeDescription()
    copyFields(to: result)
    return result
  }

  override func copyFields(to other: NSPropertyDescription) {
    super.copyFields(to: other)
    let other = other as! NSAttributeDescription
    other.attributeType = attributeType
    other.defaultValue = defaultValue
    other.valueTransformerName = valueTransformerName
    other.storedValueClassName = storedValueClassName
    other.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
    other.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
  }

  override func hashBytes() -> [UInt8] { attributeHash() }
}

extension NSAttributeDescription {
  /// What an attribute holds: the newer spelling of ``NSAttributeType``.
  public struct AttributeType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    private init(_ type: NSAttributeType) { rawValue = type.rawValue }

    /// No type: allowed for transient attributes only, since stores can't keep it. New descriptions have it.
    public static let undefined = Self(.undefinedAttributeType)
    /// Integers of 16 bits; key-value coding gives `NSNumber`s.
    public static let integer16 = Self(.integer16AttributeType)
    /// Integers of 32 bits; key-value coding gives `NSNumber`s.
    public static let integer32 = Self(.integer32AttributeType)
    /// Integers of 64 bits, which is what Swift's `Int` is; key-value coding gives `NSNumber`s.
    public static let integer64 = Self(.integer64AttributeType)
    /// Decimal numbers; key-value coding gives `NSDecimalNumber`s.
    public static let decimal = Self(.decimalAttributeType)
    /// Floating-point numbers of 64 bits; key-value coding gives `NSNumber`s.
    public static let double = Self(.doubleAttributeType)
    /// Floating-point numbers of 32 bits; key-value coding gives `NSNumber`s.
    public static let float = Self(.floatAttributeType)
    /// Text; key-value coding gives Swift strings.
    public static let string = Self(.stringAttributeType)
    /// True or false; key-value coding gives `NSNumber`s.
    public static let boolean = Self(.booleanAttributeType)
    /// Points in time, kept as seconds since 2001 in a floating-point number of 64 bits.
    public static let date = Self(.dateAttributeType)
    /// Bytes; large values may stand in files of their own, see
    /// ``NSAttributeDescription/allowsExternalBinaryDataStorage``.
    public static let binaryData = Self(.binaryDataAttributeType)
    /// UUIDs, kept as 16 bytes.
    public static let uuid = Self(.UUIDAttributeType)
    /// URLs, kept as text.
    public static let uri = Self(.URIAttributeType)
    /// Any values that a value transformer turns into bytes, see
    /// ``NSAttributeDescription/valueTransformerName``.
    public static let transformable = Self(.transformableAttributeType)
    /// Object IDs: allowed for transient attributes only, since stores can't keep them.
    public static let objectID = Self(.objectIDAttributeType)
    /// Dictionaries of named elements, of an ``NSCompositeAttributeDescription`` and of no other description.
    public static let composite = Self(.compositeAttributeType)
  }

  /// ``attributeType`` in its newer spelling. A code that is none of the known types becomes undefined.
  public var type: AttributeType {
    get { AttributeType(rawValue: attributeType.rawValue) }
    set { attributeType = NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType }
  }
}

/// An attribute that saving computes from other properties.
///
/// Its value is brought up to date by every save, whichever object the save changes, and objects read it as
/// of the last save or refresh; setting it has no lasting effect. Expressions, as in Core Data:
///
/// | expression | gives |
/// |---|---|
/// | `now()` | when the object's row was last written |
/// | `canonical:(name)` | a text attribute without differences of case and diacritics |
/// | `lowercase:(name)`, `uppercase:(name)` | a text attribute in one case |
/// | `author.name` | an attribute of a to-one relationship's object |
/// | `pages.@count` | the number of objects in a to-many relationship |
/// | `pages.price.@sum`, `pages.@sum.price` | the sum of a number over them, 0 without objects |
///
/// Any other is an error when the model is first used. Counts, sums and copies are kept by triggers of the
/// store, so a save costs more for each; they do not raise the version of the row they stand in.
nonisolated public final class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  // Guard of @unchecked Sendable: as inherited, mutable only until the model is in use.

  /// The expression, as written in a model file: `chat.serverId`, `pages.@count`, `canonical:(name)`,
  /// `now()`.
  ///
  /// Text in place of Core Data's `NSExpression`, which Foundation can't build on Linux.
  public var derivation: String? { willSet { requireMutable() } }

  override func makeCopy() -> NSPropertyDescription {
    let result = NSDerivedAttributeDescription()
    copyFields(to: result)
    result.derivation = derivation
    return result
  }

  override func hashBytes() -> [UInt8] { derivedHash() }
}

/// An attribute made of other attributes, whose values are dictionaries and whose leaves have columns.
nonisolated public final class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  // Guard of @unchecked Sendable: as inherited, mutable only until the model is in use.

  /// The attributes that make up the composite, in their declared order; composites may be nested.
  public var elements: [NSAttributeDescription] = [] { willSet { requireMutable() } }

  public override init() {
    super.init()
    attributeType = .compositeAttributeType
  }

  override func makeCopy() -> NSPropertyDescription {
    let result = NSCompositeAttributeDescription()
    copyFields(to: result)
    result.elements = elements.map { $0.makeCopy() as! NSAttributeDescription }
    return result
  }

  override func hashBytes() -> [UInt8] { compositeHash() }
}
