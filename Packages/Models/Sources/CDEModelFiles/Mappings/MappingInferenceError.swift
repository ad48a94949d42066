public import CDEStore
public import Foundation

/// Why it can't be worked out how two versions of a model belong together. It names the entity and the property, and the remedy.
public struct MappingInferenceError: CDEError {
  /// The kind of error. Later versions may add codes.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// An attribute has another type, to which the values of the old one can't be converted.
    public static let incompatibleType = Code(rawValue: "incompatibleType")
    /// A property was an attribute and is a relationship, or the reverse.
    public static let incompatibleKind = Code(rawValue: "incompatibleKind")
    /// A relationship leads to other objects than before.
    public static let incompatibleDestination = Code(rawValue: "incompatibleDestination")
    /// The two ends of a relationship come from two different relationships.
    public static let divergedEnds = Code(rawValue: "divergedEnds")
    /// Two entities or properties of the new model claim the same one of the old model, or one claims two.
    public static let ambiguousName = Code(rawValue: "ambiguousName")
  }

  /// The kind of error, for programs.
  public var code: Code
  /// What does not fit and what to do about it, for people.
  public var message: String
  /// Always nil: no other layer is asked.
  public var cause: (any Error)?
  /// The entity of the new model.
  public var entity: String
  /// The property of the new model, where one is concerned.
  public var property: String?

  init(_ code: Code, _ message: String, entity: String, property: String? = nil) {
    self.code = code
    self.message = message
    self.entity = entity
    self.property = property
  }
}

extension MappingInferenceError: CustomNSError {
  /// Apple's domain of Core Data's errors: `NSCocoaErrorDomain`.
  public static var errorDomain: String { NSCocoaErrorDomain }
  /// Core Data's number of a migration that can't be inferred: 134190.
  public var errorCode: Int { 134190 }
  /// The message, and the names under `entity` and `property`.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [NSLocalizedDescriptionKey: message, "entity": entity]
    if let property { info["property"] = property }
    return info
  }
}
