import CDEManagedModel
import CDEModelRuntime
import CDEStore
import Foundation

/// Why a command has no answer: one sentence or two that name the remedy.
public struct ToolError: Error, CustomStringConvertible, Sendable {
  /// The exit codes of `cde`.
  public enum Status: Int32, Sendable {
    /// The command found differences or damages.
    case findings = 1
    /// A file, a server or its data could not be used.
    case failed = 2
    /// The command line is wrong. The number is that of `sysexits.h`.
    case usage = 64
  }

  public var message: String
  public var status: Status

  public init(_ message: String, _ status: Status = .failed) {
    self.message = message
    self.status = status
  }

  public var description: String { message }

  /// The error of a library call, with what this program can do about it.
  public init(_ error: any Error) {
    if let error = error as? ToolError {
      self = error
      return
    }
    // A name that the model does not have is in the command line.
    let code = (error as? ManagedObjectError)?.code
    status = code == .predicate || code == .unsupportedRequest ? .usage : .failed
    if let known = error as? any CDEError {
      message = known.message
    } else {
      message = error.localizedDescription
    }
    let store = (error as? StoreError) ?? ((error as? any CDEError)?.cause as? StoreError)
    if store?.code == .unreadable, !message.contains("no store") {
      message += " What can be read is copied by `cde store salvage FILE --to NEWFILE`."
    }
    message = message.split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}
