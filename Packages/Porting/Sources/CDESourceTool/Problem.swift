public import CDESourceRewriting
internal import Foundation

/// A mistake in the command line, or sources with errors.
public struct Problem: Error, CustomStringConvertible {
  /// What is wrong, and what to do about it.
  public let description: String
  /// Says what is wrong.
  public init(_ description: String) { self.description = description }
}

/// Prints messages where the build system looks for them, and fails if one is an error.
public func finish(_ report: TargetRewriting.Report) throws {
  for message in report.messages { print(message) }
  if report.hasErrors { throw Problem("Some sources can't be rewritten; see the messages above.") }
}

/// Runs a command line, and ends the process: with 1 and a message for an error.
public func runCommandLine(_ run: ([String]) throws -> Void) -> Never {
  do { try run(Array(CommandLine.arguments.dropFirst())) } catch {
    FileHandle.standardError.write(Data("error: \((error as? Problem)?.description ?? "\(error)")\n".utf8))
    exit(1)
  }
  exit(0)
}
