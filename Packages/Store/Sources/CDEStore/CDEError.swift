import Foundation

/// What every error of this project has in common: an extensible code, a message that says what
/// to do, and the error underneath.
///
/// Each layer has one struct that conforms. Codes are open (`RawRepresentable` structs with static
/// members), so a later version can add one without breaking a `switch`.
public protocol CDEError: Error, LocalizedError, CustomStringConvertible, Sendable {
  /// The type of the error codes: a struct around a string, so that codes can be added.
  associatedtype Code: RawRepresentable & Hashable & Sendable where Code.RawValue == String

  /// What went wrong, for programs.
  var code: Code { get }

  /// What went wrong and what to do about it, for people. Holds no bound values.
  var message: String { get }

  /// The error underneath, if another layer or the system reported one.
  var cause: (any Error)? { get }
}

extension CDEError {
  public var description: String {
    let head = "\(Self.self).\(code.rawValue): \(message)"
    guard let cause else { return head }
    // An error that passes on what the layer below said repeats nothing of it.
    let said = (cause as? any CDEError)?.message ?? "\(cause)"
    return message.contains(said) ? head : "\(head) (cause: \(cause))"
  }

  public var errorDescription: String? { description }
}
