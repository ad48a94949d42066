import Foundation

/// The common form of this project's errors: an extensible code, a message that names the remedy, and the
/// underlying error.
///
/// Each layer has one struct that conforms. Codes are open (`RawRepresentable` structs with static members),
/// so a later version can add one without breaking a `switch`.
public protocol CDEError: Error, LocalizedError, CustomStringConvertible, Sendable {
  /// The type of the error codes: a struct around a string, so that codes can be added.
  associatedtype Code: RawRepresentable & Hashable & Sendable where Code.RawValue == String

  /// The kind of error, for programs.
  var code: Code { get }

  /// What went wrong and what to do about it, for people. Contains no bound values.
  var message: String { get }

  /// The underlying error, if another layer or the system reported one.
  var cause: (any Error)? { get }
}

extension CDEError {
  public var description: String {
    let head = "\(Self.self).\(code.rawValue): \(message)"
    guard let cause else { return head }
    // If the message contains that of the layer below, it is not repeated.
    let said = (cause as? any CDEError)?.message ?? "\(cause)"
    return message.contains(said) ? head : "\(head) (cause: \(cause))"
  }

  public var errorDescription: String? { description }
}
