import CoreDataEvolution
import PackageModel
import Synchronization

@testable import ServiceKit

/// A service in a process of its own.
final class ServiceProcess: Sendable {
  let port: Int
  private let process: Process
  private let ended: AsyncStream<Int32>

  struct DidNotStart: Error {
    var output: String
  }

  /// Starts the program, and waits until it serves requests.
  init(_ place: IndexPlace, _ options: [String] = []) async throws {
    let process = Process()
    let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("package-service")
    process.executableURL = program
    process.arguments = ["serve", "--port", "0"] + place.arguments + options
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    let (ended, end) = AsyncStream.makeStream(of: Int32.self)
    process.terminationHandler = { process in
      end.yield(process.terminationStatus)
      end.finish()
    }
    try process.run()
    self.process = process
    self.ended = ended
    let line = try await onOwnThread {
      var line = Data()
      while line.last != 0x0A, case let byte = output.fileHandleForReading.readData(ofLength: 1),
        !byte.isEmpty
      {
        line.append(byte)
      }
      return String(decoding: line, as: UTF8.self)
    }
    guard let text = line.split(separator: ":").last,
      let port = Int(text.trimmingCharacters(in: .whitespacesAndNewlines))
    else { throw DidNotStart(output: line) }
    self.port = port
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  /// Sends a signal.
  func signal(_ number: Int32) { kill(process.processIdentifier, number) }

  /// Waits for the end.
  ///
  /// - Returns: the exit status, or the signal that ended the process.
  func status() async -> Int32 {
    for await status in ended { return status }
    return process.terminationStatus
  }
}
