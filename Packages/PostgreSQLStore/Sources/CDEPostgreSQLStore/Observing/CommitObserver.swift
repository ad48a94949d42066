#if PostgreSQL
  @_spi(CDE) internal import CDEExecutors
  @_spi(CDE) internal import CDESQL
  @_spi(CDE) internal import CDEStore
  internal import Foundation

  /// Notices commits of other connections: of other machines, processes and stores.
  ///
  /// A notification of the server wakes a thread, which reads the history on a connection of its own. The history is the truth, so
  /// a notification that is missed while the connection is lost loses nothing: after connecting again the thread reads first.
  ///
  /// States: connecting <-> listening -> stopped.
  final class CommitObserver: Sendable {
    /// What the thread works on. It holds the observer only while it runs.
    struct Work: Sendable {
      let connect: @Sendable () throws(StoreError) -> Connection
      /// Reads the history and reports commits of others.
      let look: @Sendable (Connection) throws(StoreError) -> Void
      /// The name that notifications are sent to.
      let channel: String
    }

    /// The ends of a pipe whose bytes end the waiting.
    private let wakeUp: (read: Int32, write: Int32)
    private let isStopped = Lock(false)

    /// - Returns: nil if the process has no descriptors left.
    init?() {
      var ends: [Int32] = [0, 0]
      guard pipe(&ends) == 0 else { return nil }
      wakeUp = (ends[0], ends[1])
    }

    deinit {
      close(wakeUp.read)
      close(wakeUp.write)
    }

    /// Starts the thread. The work's first step, to listen, is done on the calling thread, so that its errors are the caller's, and
    /// no later commit is missed.
    func start(_ work: Work) throws(StoreError) {
      let connection = try Self.listen(work)
      Thread.detachNewThread { [self] in run(work, connection) }
    }

    /// Ends the thread soon. A report that runs is completed.
    func stop() {
      isStopped.withLock { $0 = true }
      var byte: UInt8 = 0
      _ = write(wakeUp.write, &byte, 1)
    }

    private static func listen(_ work: Work) throws(StoreError) -> Connection {
      let connection = try work.connect()
      try connection.execute("LISTEN \(quoted(work.channel))", while: "Listening to commits")
      return connection
    }

    private func run(_ work: Work, _ first: Connection) {
      var connection: Connection? = first
      var pause = 50
      while !isStopped.withLock({ $0 }) {
        do throws(StoreError) {
          if connection == nil { connection = try Self.listen(work) }
          try work.look(connection!)
          pause = 50
          // Without a notification the history is read twice a minute, in case a pooler swallowed it.
          try connection!.waitForNotification(orInput: wakeUp.read, milliseconds: 30_000)
        } catch {
          // The server restarts, or another one takes over.
          connection = nil
          var descriptor = pollfd(fd: wakeUp.read, events: Int16(POLLIN), revents: 0)
          _ = poll(&descriptor, 1, Int32(pause))
          pause = min(pause * 2, 2000)
        }
      }
    }
  }
#endif
