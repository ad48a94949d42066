public import CDEStore

/// The error of the model: a description that contradicts itself, or a value that its attribute can't have.
///
/// It is thrown when a coordinator first uses a model. Descriptions are connected step by step, and an
/// incomplete model causes no harm before that.
public struct ModelError: CDEError {
  /// The kind of error. Later versions may add codes.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A name is empty or contains invalid characters.
    public static let invalidName = Code(rawValue: "invalidName")
    /// Two entities of the model, or two properties of an entity, have the same name.
    public static let duplicateName = Code(rawValue: "duplicateName")
    /// An entity's parent or one of its sub-entities is not in the model.
    public static let unknownEntity = Code(rawValue: "unknownEntity")
    /// A relationship has no destination, or one that is not in the model.
    public static let unknownDestination = Code(rawValue: "unknownDestination")
    /// The inverse of a relationship does not refer back.
    public static let missingInverse = Code(rawValue: "missingInverse")
    /// A relationship's inverse belongs to another entity than its destination.
    public static let invalidInverse = Code(rawValue: "invalidInverse")
    /// A relationship's minimum and maximum count contradict each other.
    public static let invalidCount = Code(rawValue: "invalidCount")
    /// An attribute's type can't be stored, or its elements contradict it.
    public static let invalidType = Code(rawValue: "invalidType")
    /// Stores do not support a derived attribute's expression, or it does not fit the attribute.
    public static let invalidDerivation = Code(rawValue: "invalidDerivation")
    /// An attribute's default value is not of the attribute's type.
    public static let invalidDefault = Code(rawValue: "invalidDefault")
    /// A uniqueness constraint names no stored property of the entity.
    public static let invalidConstraint = Code(rawValue: "invalidConstraint")
    /// An index names no stored property of the entity.
    public static let invalidIndex = Code(rawValue: "invalidIndex")
    /// The model has no configuration of that name.
    public static let unknownConfiguration = Code(rawValue: "unknownConfiguration")
    /// A relationship leads outside its configuration.
    public static let crossesConfiguration = Code(rawValue: "crossesConfiguration")
    /// The store layer refused the schema. The cause is the reason.
    public static let invalidSchema = Code(rawValue: "invalidSchema")
    /// No value transformer is registered under the attribute's transformer name.
    public static let unknownTransformer = Code(rawValue: "unknownTransformer")
    /// A value transformer returned nothing, or a value that is no data.
    public static let transformFailed = Code(rawValue: "transformFailed")
  }

  /// The kind of error, for programs.
  public var code: Code
  /// What went wrong and what to do about it, for people. Contains no values of attributes.
  public var message: String
  /// The error of the layer below that caused this one, if any: the store's for ``Code/invalidSchema``.
  public var cause: (any Error)?
  /// Name of the entity concerned, where known.
  public var entity: String?
  /// Name of the property concerned, where known.
  public var property: String?

  /// Makes an error.
  ///
  /// - Parameters:
  ///   - code: The kind of error, for programs.
  ///   - message: What went wrong and what to do about it, for people.
  ///   - entity: Name of the entity concerned, where known.
  ///   - property: Name of the property concerned, where known.
  ///   - cause: The underlying error, if any.
  public init(
    _ code: Code, _ message: String, entity: String? = nil, property: String? = nil,
    cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.entity = entity
    self.property = property
    self.cause = cause
  }
}
