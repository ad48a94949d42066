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
      /// Connects, with a limit in seconds; nil for that of the configuration.
      let connect: @Sendable (_ seconds: Int?) throws(StoreError) -> Connection
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
      let connection = try Self.listen(work, seconds: nil)
      Thread.detachNewThread { [self] in run(work, connection) }
    }

    /// Ends the thread soon. A report that runs is completed.
    func stop() {
      isStopped.withLock { $0 = true }
      var byte: UInt8 = 0
      _ = write(wakeUp.write, &byte, 1)
    }

    private static func listen(_ work: Work, seconds: Int?) throws(StoreError) -> Connection {
      let connection = try work.connect(seconds)
      try connection.execute("LISTEN \(quoted(work.channel))", while: "Listening to commits")
      return connection
    }

    /// The milliseconds until the next attempt: at most half a second, and not the same for all processes of a server that starts.
    private static func pause(after failures: Int) -> Int32 {
      let longest = min(50 << min(failures - 1, 4), 500)
      return Int32.random(in: Int32(longest / 2)...Int32(longest))
    }

    private func run(_ work: Work, _ first: Connection) {
      var connection: Connection? = first
      var failures = 0
      while !isStopped.withLock({ $0 }) {
        do throws(StoreError) {
          if connection == nil {
            // Short attempts, because each begins with a packet, which TCP repeats only after seconds. Now and then a long one, for a
            // server that takes its time.
            let seconds = failures % 4 == 0 ? nil : ConnectionOptions.leastSeconds
            connection = try Self.listen(work, seconds: seconds)
          }
          try work.look(connection!)
          failures = 0
          // Without a notification the history is read twice a minute, in case a pooler swallowed it.
          try connection!.waitForNotification(orInput: wakeUp.read, milliseconds: 30_000)
        } catch {
          // The server restarts, or another one takes over.
          connection = nil
          failures += 1
          var descriptor = pollfd(fd: wakeUp.read, events: Int16(POLLIN), revents: 0)
          _ = poll(&descriptor, 1, Self.pause(after: failures))
        }
      }
    }
  }
#endif
