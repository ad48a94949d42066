public import CDEStore

/// Why a model file could not be read, compiled or written. It names the file, and the element and line where
/// known.
public struct ModelFileError: CDEError {
  /// The kind of error. Later versions may add codes.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// There is no such file or folder.
    public static let missing = Code(rawValue: "missing")
    /// The system could not read or write the file. The cause is the system's error.
    public static let inaccessible = Code(rawValue: "inaccessible")
    /// The file is no model, or one in a format that is not supported.
    public static let unsupportedFormat = Code(rawValue: "unsupportedFormat")
    /// The file violates the syntax of its format.
    public static let damaged = Code(rawValue: "damaged")
    /// The file is larger, nested deeper, or expands to more, than any model does.
    public static let tooLarge = Code(rawValue: "tooLarge")
    /// The model contradicts itself: a name that is used twice, a parent or destination that is missing.
    public static let invalidModel = Code(rawValue: "invalidModel")
    /// A condition or an expression has no form in compiled models.
    public static let unsupportedExpression = Code(rawValue: "unsupportedExpression")
  }

  /// The kind of error, for programs.
  public var code: Code
  /// What went wrong and what to do about it, for people. Begins with the file, and the line where known.
  public var message: String
  /// The error of the system or of another layer, if there is one.
  public var cause: (any Error)?
  /// The path of the file; empty when the data came from memory.
  public var file: String
  /// The line in a text file, counted from 1, where known.
  public var line: Int?
  /// The element concerned, such as `attribute` or `entity Person`, where known.
  public var element: String?

  /// The message without the place, for the message of another error of the same file.
  var reason: Substring {
    message.hasPrefix("\(file): ") ? message.dropFirst(file.count + 2) : message[...]
  }

  init(
    _ code: Code, _ text: String, file: String, line: Int? = nil, element: String? = nil,
    cause: (any Error)? = nil
  ) {
    self.code = code
    let place = (file.isEmpty ? "The model" : file) + (line.map { ":\($0)" } ?? "")
    message = "\(place): \(text)"
    self.cause = cause
    self.file = file
    self.line = line
    self.element = element
  }
}
