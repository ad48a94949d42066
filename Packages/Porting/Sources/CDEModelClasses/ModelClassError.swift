public import CDEStore

/// Why no classes can be written for a model.
public struct ModelClassError: CDEError {
  /// The kind of error. Later versions may add codes.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A name of the model is none in Swift.
    public static let invalidName = Code(rawValue: "invalidName")
  }

  /// The kind of error, for programs.
  public var code: Code
  /// What is wrong and what to do about it, for people.
  public var message: String
  /// The error of another layer, if there is one.
  public var cause: (any Error)?

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}
