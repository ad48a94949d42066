import CDEStore
import Synchronization

/// The connections of one store: one that writes and, under a write-ahead log, as many that read as threads ask
/// at once.
///
/// Without a write-ahead log readers would keep the writer out, and memory is cheap to read: then everybody takes
/// turns on the writer.
final class ConnectionPool: Sendable {
  private struct Readers {
    var idle: [Connection] = []
    var isClosed = false
  }

  private let writer: Mutex<Connection?>
  private let readers = Mutex(Readers())
  private let open: (@Sendable () throws(StoreError) -> Connection)?
  private let idleLimit: Int

  /// - Parameter open: opens a reading connection; `nil` when everybody shares the writer.
  init(
    writer: Connection, idleLimit: Int, open: (@Sendable () throws(StoreError) -> Connection)?
  ) {
    self.writer = Mutex(writer)
    self.idleLimit = max(idleLimit, 1)
    self.open = open
  }

  func write<R: Sendable>(_ body: (Connection) throws(StoreError) -> R) throws(StoreError) -> R {
    try writer.withLock { (connection) throws(StoreError) -> R in
      guard let connection else { throw StoreError.closed() }
      return try body(connection)
    }
  }

  func read<R: Sendable>(_ body: (Connection) throws(StoreError) -> R) throws(StoreError) -> R {
    guard let open else { return try write(body) }
    let (isClosed, found) = readers.withLock { ($0.isClosed, $0.idle.popLast()) }
    if isClosed { throw StoreError.closed() }
    let connection = if let found { found } else { try open() }
    defer { giveBack(connection) }
    return try body(connection)
  }

  private func giveBack(_ connection: Connection) {
    let limit = idleLimit
    // What is not kept is closed by its last owner, the caller, outside the lock.
    readers.withLock { readers in
      if !readers.isClosed, readers.idle.count < limit { readers.idle.append(connection) }
    }
  }

  /// Closes the idle readers and hands the writer to `last` before it goes.
  ///
  /// - Returns: `false` when the pool was closed before.
  func close(_ last: (Connection) -> Void) -> Bool {
    let idle = readers.withLock { readers in
      readers.isClosed = true
      defer { readers.idle = [] }
      return readers.idle
    }
    _ = consume idle
    return writer.withLock { writer in
      guard let connection = writer else { return false }
      last(connection)
      writer = nil
      return true
    }
  }
}
