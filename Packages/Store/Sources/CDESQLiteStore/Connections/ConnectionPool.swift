import CDESQLite
@_spi(CDE) import CDEStore
import Dispatch
import Synchronization
@_spi(CDE) internal import CDEExecutors

/// The connections of one store: a writing one and, with a write-ahead log, a reading one for each concurrent read.
///
/// Without a write-ahead log a read would block the writer, and a store in memory is read fast. In both cases
/// all calls run on the writing connection, one at a time.
final class ConnectionPool: Sendable {
  private struct Readers {
    var idle: [Connection] = []
    var underWay = 0
    var isClosed = false
    var sweep = 0
    var isSweepScheduled = false
    var isDraining = false
    /// The number of returned connections, to detect whether any was used meanwhile.
    var uses = 0
    var isRestScheduled = false
  }

  private let writer: Lock<Connection?>
  private let readers = Lock(Readers())
  private let open: (@Sendable () throws(StoreError) -> Connection)?
  /// Opens the writing connection anew where it reads files without locks, and they have changed; nil elsewhere.
  private let renew: (@Sendable () throws(StoreError) -> Connection)?
  private let idleLimit: Int
  private let holdsSnapshots: Bool
  /// Whether a read may wait for the writer without occupying the writer's processor.
  private let canWait: Bool
  private let isAwaited = Atomic<Bool>(false)
  /// The number of commits. It is changed while the writer is borrowed.
  private let commits = Atomic<UInt64>(0)
  private let generation = ProcessGeneration.current
  /// Whether the one connection stays in a read transaction.
  private let isPinned: Bool
  /// Whether requests are reported with the time that they waited.
  private let isObserved: Bool
  // The last property, so that it ends after the connections are closed.
  private let heldUse: Lock<FileUser?>

  /// The use of the file; nil for a store in memory, and once the pool is closed.
  var use: FileUser? { heldUse.withLock { $0 } }

  // An idle snapshot is kept for one to two intervals.
  private static let sweepInterval = DispatchTimeInterval.milliseconds(50)
  // Idle readers are kept for one to two intervals after the last read. Opening a reader takes a third of a
  // millisecond, and each keeps two file descriptors open.
  private static let restInterval = DispatchTimeInterval.seconds(5)

  /// - Parameters:
  ///   - use: the use of the file; nil for a store in memory.
  ///   - open: opens a reading connection; `nil` when reads run on the writer.
  ///   - holdsSnapshots: whether readers may keep their transaction until the next read.
  ///   - processors: the number of threads that can run at the same time.
  ///   - renew: opens the connection anew that reads files without locks; nil for other connections.
  init(
    writer: Connection, use: FileUser?, idleLimit: Int, holdsSnapshots: Bool, processors: Int,
    open: (@Sendable () throws(StoreError) -> Connection)?,
    renew: (@Sendable () throws(StoreError) -> Connection)? = nil
  ) {
    self.writer = Lock(writer)
    self.idleLimit = max(idleLimit, 1)
    self.holdsSnapshots = holdsSnapshots
    canWait = processors > 1
    self.open = open
    self.renew = renew
    isPinned = false
    isObserved = writer.collector != nil
    heldUse = Lock(use)
  }

  private init(pinned connection: Connection, _ use: FileUser?) {
    writer = Lock(connection)
    heldUse = Lock(use)
    isObserved = connection.collector != nil
    (idleLimit, holdsSnapshots, canWait, open, renew, isPinned) = (1, false, false, nil, nil, true)
  }

  /// A pool for reading the current state of the store, on a connection of its own that stays in one read transaction.
  ///
  /// While the pool exists, the log can't be reused from its beginning. Files that are read without locks can't be kept as they
  /// are: reads throw `.fileChanged` once they have changed.
  ///
  /// - Returns: nil with a rollback journal, where a read transaction would block the writer.
  func pinned() throws(StoreError) -> ConnectionPool? {
    guard let open = open ?? renew else { return nil }
    try requireOwnProcess()
    let connection = try open()
    if renew != nil, connection.unchanging == nil {
      guard try connection.journalMode() == "wal" else { return nil }
    }
    // Before the transaction begins, as in each read.
    connection.asOf = commits.load(ordering: .acquiring)
    try connection.run("BEGIN", while: "Reading the store")
    // The first read begins the transaction.
    _ = try connection.integer("SELECT rootpage FROM sqlite_master LIMIT 1", while: "Reading the store")
    return ConnectionPool(pinned: connection, use)
  }

  /// - Parameter kind: the kind of request for the observer.
  func write<R: Sendable>(
    _ kind: ObservedRequest.Kind, _ body: (Connection) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let asked = isObserved ? ContinuousClock.now : nil
    return try withWriter { (connection) throws(StoreError) in
      try connection.observing(kind, asked: asked, body)
    }
  }

  /// Lends the writing connection without a request.
  func borrowWriter<R: Sendable>(
    _ body: (Connection) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try withWriter(body)
  }

  /// Returns the number of the next commit. Called by the borrower of the writer, after its transaction was
  /// committed.
  func countCommit() -> UInt64 { commits.add(1, ordering: .releasing).newValue }

  /// - Throws: `.forked` in the child of a fork, instead of waiting for a lock that no thread of the child
  ///   releases.
  @inline(__always)
  func requireOwnProcess() throws(StoreError) {
    if generation != ProcessGeneration.current { throw StoreError.forked() }
  }

  private func withWriter<R: Sendable>(
    _ body: (Connection) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try requireOwnProcess()
    // A save of one change has the writer for some 15 us.
    let result = try writer.withLockIfSoonAvailable { (connection) throws(StoreError) -> R in
      try run(body, &connection)
    }
    if let result { return result }
    return try writer.withLock { (connection) throws(StoreError) -> R in try run(body, &connection) }
  }

  @inline(__always)
  private func run<R: Sendable>(
    _ body: (Connection) throws(StoreError) -> R, _ connection: inout Connection?
  ) throws(StoreError) -> R {
    guard let current = connection else { throw StoreError.closed() }
    if let renew { return try body(try renewed(current, renew, &connection)) }
    return try body(current)
  }

  /// - Returns: the connection, or another one if its files have changed.
  private func renewed(
    _ current: Connection, _ renew: () throws(StoreError) -> Connection, _ connection: inout Connection?
  ) throws(StoreError) -> Connection {
    guard let unchanging = current.unchanging, try !unchanging.isCurrent() else { return current }
    let new = try renew()
    new.renewals = current.renewals + 1
    if let key = new.file?.key, key != current.file?.key { heldUse.withLock { $0 = FileUser(key) } }
    connection = new
    return new
  }

  /// Runs reads that use one state of the store.
  ///
  /// - Parameters:
  ///   - kind: the kind of request for the observer.
  ///   - body: the reads. They may be stopped and repeated on another connection, so the result is made in the body.
  func read<R: Sendable>(
    _ kind: ObservedRequest.Kind = .read, _ body: (Connection) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let asked = isObserved ? ContinuousClock.now : nil
    if isPinned {
      return try withWriter { (connection) throws(StoreError) in
        try connection.checkingFiles { () throws(StoreError) in
          try connection.observing(kind, asked: asked, body)
        }
      }
    }
    guard let open else {
      var attemptsLeft = renew == nil ? 0 : Self.repetitions
      while true {
        do throws(StoreError) {
          return try readAlone(kind, asked: asked, body)
        } catch {
          guard error.code == .fileChanged, attemptsLeft > 0 else { throw error }
          attemptsLeft -= 1
        }
      }
    }
    try requireOwnProcess()
    let connection = try borrow(orOpen: open)
    defer { giveBack(connection) }
    // Before the transaction begins. If a commit follows in between, the rows count as older than they are.
    connection.asOf = commits.load(ordering: .acquiring)
    if holdsSnapshots, connection.snapshot.headerOfNewerCommit != nil,
      let answer = try readOnWriter(insteadOf: connection, asked: asked, body)
    {
      connection.snapshot.leave(connection)
      return answer
    }
    do throws(StoreError) {
      try connection.snapshot.enter(connection)
      let result = try connection.observing(kind, asked: asked, body)
      if holdsSnapshots {
        connection.snapshot.rest(connection)
      } else {
        connection.snapshot.leave(connection)
      }
      return result
    } catch {
      connection.snapshot.leave(connection)
      throw error
    }
  }

  // Where a program writes all the time, its use of the file is seen at the first repetition.
  private static let repetitions = 3

  /// Reads on the writing connection.
  private func readAlone<R: Sendable>(
    _ kind: ObservedRequest.Kind, asked: ContinuousClock.Instant?,
    _ body: (Connection) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try withWriter { (connection) throws(StoreError) in
      connection.asOf = commits.load(ordering: .acquiring)
      try connection.run("BEGIN", while: "Reading the store")
      defer { connection.rollBack() }
      return try connection.checkingFiles { () throws(StoreError) in
        try connection.observing(kind, asked: asked, body)
      }
    }
  }

  private func borrow(
    orOpen open: @Sendable () throws(StoreError) -> Connection
  ) throws(StoreError) -> Connection {
    let (isClosed, found) = readers.withLock { readers in
      if !readers.isClosed { readers.underWay += 1 }
      return (readers.isClosed, readers.idle.popLast())
    }
    if isClosed { throw StoreError.closed() }
    if let found { return found }
    do throws(StoreError) {
      return try open()
    } catch {
      readers.withLock { $0.underWay -= 1 }
      throw error
    }
  }

  /// The number of running reads. While the writer is busy, they have separate connections.
  var readCount: Int { readers.withLock { $0.underWay } }

  /// Runs a short read on the writing connection, if that is idle or will be idle soon.
  ///
  /// After a commit each reading connection drops its pages, but the connection that committed keeps them.
  /// Only the first read after a commit is run here, so that the reading connections soon load the new pages.
  /// Other reads and writes wait for at most one short read.
  ///
  /// - Returns: nil when the writer is busy, has already read this state, or the read was not short.
  private func readOnWriter<R: Sendable>(
    insteadOf reader: Connection, asked: ContinuousClock.Instant?,
    _ body: (Connection) throws(StoreError) -> R
  ) throws(StoreError) -> R? {
    var deadline: ContinuousClock.Instant?
    defer { if deadline != nil { isAwaited.store(false, ordering: .releasing) } }
    while true {
      let answer: R?? = try writer.withLockIfAvailable { (writer) throws(StoreError) -> R? in
        // The header is read again, because this call may have waited for the commit that changed it.
        guard let writer, var header = reader.snapshot.headerOfNewerCommit else { return nil }
        if var last = writer.lastLentHeader, cde_equal_wal_headers(&last, &header) != 0 { return nil }
        writer.lastLentHeader = header
        writer.asOf = commits.load(ordering: .acquiring)
        return try writer.readBriefly(asked: asked, body)
      }
      if let answer { return answer }
      if let deadline {
        if .now >= deadline { return nil }
      } else {
        // Only one read waits, because the writer runs one read for each commit.
        guard canWait, !isAwaited.exchange(true, ordering: .acquiring) else { return nil }
        deadline = .now + Self.patience
      }
    }
  }

  /// How long a read waits for the writing connection. Reading a hundred pages again takes a reader twice as
  /// long as the writer needs for a commit of some rows.
  private static let patience = Duration.microseconds(35)

  private func giveBack(_ connection: Connection) {
    let limit = idleLimit
    // A connection that is not kept is closed when the caller releases it, outside the lock.
    let (startsSweep, startsRest) = readers.withLock { readers in
      readers.underWay -= 1
      guard !readers.isClosed, readers.idle.count < limit else { return (false, false) }
      if readers.isDraining { connection.snapshot.leave(connection) }
      connection.snapshot.lastSweep = readers.sweep
      readers.idle.append(connection)
      readers.uses &+= 1
      let startsRest = !readers.isRestScheduled
      readers.isRestScheduled = true
      guard connection.snapshot.isOpen, !readers.isSweepScheduled else { return (false, startsRest) }
      readers.isSweepScheduled = true
      return (true, startsRest)
    }
    if startsSweep { scheduleSweep() }
    if startsRest { scheduleRest() }
  }

  private func scheduleRest() {
    let uses = readers.withLock { $0.uses }
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.restInterval) { [weak self] in
      self?.closeResting(unlessUsedSince: uses)
    }
  }

  /// Closes the idle readers if the store was not read recently. Otherwise checks again later.
  func closeResting(unlessUsedSince uses: Int) {
    let (resting, continues): ([Connection], Bool) = readers.withLock { readers in
      if readers.uses != uses { return ([], true) }
      defer { readers.idle = [] }
      readers.isRestScheduled = readers.underWay > 0
      return (readers.idle, readers.isRestScheduled)
    }
    // Closed here, because this is outside the lock.
    _ = consume resting
    if continues { scheduleRest() }
  }

  /// The number of reads that have ended.
  var useCount: Int { readers.withLock { $0.uses } }

  private func scheduleSweep() {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.sweepInterval) { [weak self] in
      self?.endRestingSnapshots()
    }
  }

  /// Ends the snapshots that were not used since the last sweep.
  private func endRestingSnapshots() {
    let continues = readers.withLock { readers in
      readers.sweep += 1
      for connection in readers.idle
      where connection.snapshot.isOpen && connection.snapshot.lastSweep < readers.sweep - 1 {
        connection.snapshot.leave(connection)
      }
      readers.isSweepScheduled = readers.idle.contains { $0.snapshot.isOpen }
      return readers.isSweepScheduled
    }
    if continues { scheduleSweep() }
  }

  /// Runs a body during which each snapshot ends with its read.
  func withoutHeldSnapshots(_ body: () -> Void) {
    readers.withLock { readers in
      readers.isDraining = true
      for connection in readers.idle where connection.snapshot.isOpen {
        connection.snapshot.leave(connection)
      }
    }
    body()
    readers.withLock { $0.isDraining = false }
  }

  /// Closes the idle readers and runs `last` on the writer before closing it.
  ///
  /// - Returns: `false` when the pool was already closed.
  func close(_ last: (Connection) -> Void) -> Bool {
    let idle = readers.withLock { readers in
      readers.isClosed = true
      defer { readers.idle = [] }
      return readers.idle
    }
    _ = consume idle
    let wasOpen = writer.withLock { writer in
      guard let connection = writer else { return false }
      last(connection)
      writer = nil
      return true
    }
    // Running reads have connections. The use then ends with the pool.
    if readCount == 0 { heldUse.withLock { $0 = nil } }
    return wasOpen
  }
}
