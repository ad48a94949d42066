internal import Foundation

/// A property with a value.
nonisolated public class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
  // Guard of @unchecked Sendable: as inherited, mutable only until the model is in use.

  /// The type of the attribute's values.
  public var attributeType = NSAttributeType.undefinedAttributeType { willSet { requireMutable() } }

  /// The initial value of new objects. The getter returns the Swift value that was set. Whether it fits
  /// ``attributeType`` is checked when a coordinator first uses the model.
  public var defaultValue: Any? { willSet { requireMutable() } }

  /// For transformable attributes: the name of a registered `ValueTransformer`. `nil` means secure
  /// unarchiving.
  public var valueTransformerName: String? { willSet { requireMutable() } }

  /// Name of the class of the attribute's values. By default it depends on the type. Setting it is useful for
  /// transformable attributes only.
  public var attributeValueClassName: String? {
    get { storedValueClassName ?? attributeType.valueClassName }
    set {
      requireMutable()
      storedValueClassName = newValue
    }
  }
  private var storedValueClassName: String?

  /// Whether the store may keep large values in separate files.
  public var allowsExternalBinaryDataStorage = false { willSet { requireMutable() } }

  /// Whether the history keeps the last value of a deleted object.
  public var preservesValueInHistoryOnDeletion = false { willSet { requireMutable() } }

  /// Whether a cloud may keep the value encrypted only. Kept for other programs; without an effect on Linux.
  public var allowsCloudEncryption = false { willSet { requireMutable() } }

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
    other.allowsCloudEncryption = allowsCloudEncryption
  }

  override func hasSameFields(as other: NSPropertyDescription) -> Bool {
    guard let other = other as? NSAttributeDescription else { return false }
    return super.hasSameFields(as: other) && attributeType == other.attributeType
      && isSameValue(defaultValue, other.defaultValue)
      && valueTransformerName == other.valueTransformerName
      && attributeValueClassName == other.attributeValueClassName
      && allowsExternalBinaryDataStorage == other.allowsExternalBinaryDataStorage
      && preservesValueInHistoryOnDeletion == other.preservesValueInHistoryOnDeletion
      && allowsCloudEncryption == other.allowsCloudEncryption
  }

  override func hashBytes() -> [UInt8] { attributeHash() }
}

extension NSAttributeDescription {
  /// The type of an attribute's values: the newer spelling of ``NSAttributeType``.
  public struct AttributeType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    private init(_ type: NSAttributeType) { rawValue = type.rawValue }

    /// No type. Allowed for transient attributes only, because stores can't store it. The default of new
    /// descriptions.
    public static let undefined = Self(.undefinedAttributeType)
    /// Integers of 16 bits. Key-value coding returns `NSNumber`s.
    public static let integer16 = Self(.integer16AttributeType)
    /// Integers of 32 bits. Key-value coding returns `NSNumber`s.
    public static let integer32 = Self(.integer32AttributeType)
    /// Integers of 64 bits, as Swift's `Int`. Key-value coding returns `NSNumber`s.
    public static let integer64 = Self(.integer64AttributeType)
    /// Decimal numbers. Key-value coding returns `NSDecimalNumber`s.
    public static let decimal = Self(.decimalAttributeType)
    /// Floating-point numbers of 64 bits. Key-value coding returns `NSNumber`s.
    public static let double = Self(.doubleAttributeType)
    /// Floating-point numbers of 32 bits. Key-value coding returns `NSNumber`s.
    public static let float = Self(.floatAttributeType)
    /// Text. Key-value coding returns Swift strings.
    public static let string = Self(.stringAttributeType)
    /// True or false. Key-value coding returns `NSNumber`s.
    public static let boolean = Self(.booleanAttributeType)
    /// Points in time, stored as seconds since 2001 in a floating-point number of 64 bits.
    public static let date = Self(.dateAttributeType)
    /// Bytes. Large values may be in separate files, see
    /// ``NSAttributeDescription/allowsExternalBinaryDataStorage``.
    public static let binaryData = Self(.binaryDataAttributeType)
    /// UUIDs, stored as 16 bytes.
    public static let uuid = Self(.UUIDAttributeType)
    /// URLs, stored as text.
    public static let uri = Self(.URIAttributeType)
    /// Values that a value transformer encodes as bytes, see ``NSAttributeDescription/valueTransformerName``.
    public static let transformable = Self(.transformableAttributeType)
    /// Object IDs. Allowed for transient attributes only, because stores can't store them.
    public static let objectID = Self(.objectIDAttributeType)
    /// Dictionaries of named elements. Only an ``NSCompositeAttributeDescription`` has this type.
    public static let composite = Self(.compositeAttributeType)
  }

  /// ``attributeType`` in its newer spelling. An unknown code becomes undefined.
  public var type: AttributeType {
    get { AttributeType(rawValue: attributeType.rawValue) }
    set { attributeType = NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType }
  }
}

/// An attribute that is computed from other properties.
///
/// Each save updates its value, whichever object the save changes. Objects have the value of the last save or
/// refresh. Setting it has no lasting effect. The expressions are those of Core Data:
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
/// Other expressions are errors when the model is first used. Triggers of the store update counts, sums and
/// copies, so each of them makes a save more expensive. They do not raise the version of the row that
/// contains them.
nonisolated public final class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  // Guard of @unchecked Sendable: as inherited, mutable only until the model is in use.

  /// The expression, as written in a model file: `chat.serverId`, `pages.@count`, `canonical:(name)`,
  /// `now()`.
  ///
  /// `derivationExpression` is the same as an expression.
  public var derivation: String? { willSet { requireMutable() } }

  /// Whether an expression of another form is no error. The store then has the values, and refuses writes that may change them.
  @_spi(CDE) public var isOfOtherProgram = false { willSet { requireMutable() } }

  override func makeCopy() -> NSPropertyDescription {
    let result = NSDerivedAttributeDescription()
    copyFields(to: result)
    result.isOfOtherProgram = isOfOtherProgram
    result.derivation = derivation
    return result
  }

  override func hasSameFields(as other: NSPropertyDescription) -> Bool {
    super.hasSameFields(as: other)
      && derivation == (other as? NSDerivedAttributeDescription)?.derivation
  }

  override func hashBytes() -> [UInt8] { derivedHash() }
}

/// An attribute made of other attributes. Its values are dictionaries, and its leaves have columns.
nonisolated public final class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  // Guard of @unchecked Sendable: as inherited, mutable only until the model is in use.

  /// The attributes of the composite, in their declared order. Composites may be nested.
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

  override func hasSameFields(as other: NSPropertyDescription) -> Bool {
    super.hasSameFields(as: other) && elements == (other as? NSCompositeAttributeDescription)?.elements
  }

  override func hashBytes() -> [UInt8] { compositeHash() }
}
