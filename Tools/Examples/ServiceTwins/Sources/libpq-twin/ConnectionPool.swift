import Dispatch
import Foundation
import Synchronization

/// Connections on threads of their own, because libpq waits for the server. Work waits for a free one, first in, first out.
final class ConnectionPool: Sendable {
  private typealias Work = @Sendable (Connection) -> Void

  private let waiting = Mutex<[Work]>([])
  private let count = DispatchSemaphore(value: 0)

  /// - Throws: what kept a connection from being made.
  init(_ url: String, size: Int, statements: [(name: String, sql: String)]) throws {
    for _ in 0..<size {
      nonisolated(unsafe) let connection = try Connection(url, statements)
      // Guard: only the new thread uses it from here on.
      Thread.detachNewThread { [self] in
        while true {
          count.wait()
          waiting.withLock { $0.removeFirst() }(connection)
        }
      }
    }
  }

  func run<Value: Sendable>(_ work: @escaping @Sendable (Connection) throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      waiting.withLock {
        $0.append { connection in continuation.resume(with: Result { try work(connection) }) }
      }
      count.signal()
    }
  }
}
