public import CDEStore

/// The one error of the model: a description that contradicts itself, or a value that its attribute can't
/// hold.
///
/// Thrown when a coordinator first uses a model, because descriptions are wired step by step and a half-wired
/// model is harmless until then.
public struct ModelError: CDEError {
  /// What went wrong. Open: later versions may add codes.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A name is empty or holds characters that names can't hold.
    public static let invalidName = Code(rawValue: "invalidName")
    /// Two entities of the model, or two properties of an entity, have the same name.
    public static let duplicateName = Code(rawValue: "duplicateName")
    /// An entity's parent or one of its sub-entities is not in the model.
    public static let unknownEntity = Code(rawValue: "unknownEntity")
    /// A relationship has no destination, or one that is not in the model.
    public static let unknownDestination = Code(rawValue: "unknownDestination")
    /// A relationship names an inverse that does not point back.
    public static let missingInverse = Code(rawValue: "missingInverse")
    /// A relationship's inverse belongs to another entity than its destination.
    public static let invalidInverse = Code(rawValue: "invalidInverse")
    /// A relationship's counts exclude each other.
    public static let invalidCount = Code(rawValue: "invalidCount")
    /// An attribute's type can't be stored, or its elements contradict it.
    public static let invalidType = Code(rawValue: "invalidType")
    /// A derived attribute's expression is none that stores can keep, or does not fit the attribute.
    public static let invalidDerivation = Code(rawValue: "invalidDerivation")
    /// An attribute's default value is not of the attribute's type.
    public static let invalidDefault = Code(rawValue: "invalidDefault")
    /// A uniqueness constraint names something that is no stored property of the entity.
    public static let invalidConstraint = Code(rawValue: "invalidConstraint")
    /// An index names something that is no stored property of the entity.
    public static let invalidIndex = Code(rawValue: "invalidIndex")
    /// The model has no configuration of that name.
    public static let unknownConfiguration = Code(rawValue: "unknownConfiguration")
    /// A relationship leaves its configuration.
    public static let crossesConfiguration = Code(rawValue: "crossesConfiguration")
    /// The store layer refused the schema; the cause says why.
    public static let invalidSchema = Code(rawValue: "invalidSchema")
    /// No value transformer is registered under the attribute's transformer name.
    public static let unknownTransformer = Code(rawValue: "unknownTransformer")
    /// A value transformer gave back nothing, or something that is no data.
    public static let transformFailed = Code(rawValue: "transformFailed")
  }

  /// What went wrong, for programs.
  public var code: Code
  /// What went wrong and what to do about it, for people. Holds no values of attributes.
  public var message: String
  /// The error of the layer below that led to this one, if there was one: the store's for
  /// ``Code/invalidSchema``.
  public var cause: (any Error)?
  /// Name of the entity concerned, where known.
  public var entity: String?
  /// Name of the property concerned, where known.
  public var property: String?

  /// Makes an error.
  ///
  /// - Parameters:
  ///   - code: What went wrong, for programs.
  ///   - message: What went wrong and what to do about it, for people.
  ///   - entity: Name of the entity concerned, where known.
  ///   - property: Name of the property concerned, where known.
  ///   - cause: The error underneath, if there was one.
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
