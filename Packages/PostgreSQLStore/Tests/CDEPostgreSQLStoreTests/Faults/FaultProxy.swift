#if PostgreSQL
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDEExecutors
  import Foundation
  import Testing

  /// A socket between a store and its server that disturbs a connection at a chosen byte.
  ///
  /// Bytes are counted from the call of ``arm(_:)`` on, for each direction, over all connections. The fault happens once, at the
  /// connection that carries the byte. Later connections are passed on as they are.
  final class FaultProxy: Sendable {
    enum Direction: Int, Sendable, CaseIterable { case toServer, toClient }

    enum Fault: Sendable {
      /// Both ends lose the connection.
      case cut
      /// Both ends lose it, and no new connection is accepted until ``acceptAgain()``.
      case cutAndRefuse
      /// The client loses the connection. The server keeps it, and gets the rest of what the client wrote when another connection
      /// has sent a statement with parameters, or at ``release()``.
      case late
      /// The receiver reads the bytes before the chosen one before it gets the others.
      case split
      /// The bytes are held back until ``release()``.
      case hold
      /// Each byte is sent when the receiver has read the one before. Has no chosen byte.
      case trickle
    }

    struct Plan: Sendable {
      var fault: Fault
      var direction: Direction
      /// The number of bytes that pass before the fault.
      var offset: Int
    }

    private struct State {
      var plan: Plan?
      var counts = [0, 0]
      var hasFired = false
      var refuses = false
      /// The gates of connections whose end the server does not know.
      var late: [Gate] = []
      /// Opens when bytes are held back, or can't be any more.
      var held = Gate()
      /// The gate of bytes that are held back.
      var holding: Gate?
      /// The threads that pass on.
      var threads = 0
    }

    /// A gate that stays open once it was opened.
    final class Gate: Sendable {
      private let semaphore = DispatchSemaphore(value: 0)
      func open() { semaphore.signal() }
      func pass() {
        semaphore.wait()
        semaphore.signal()
      }
    }

    /// The two sockets of one connection.
    private final class Link: Sendable {
      let client: Int32
      let server: Int32
      /// Neither end learns that the other one is gone before it opens. Nil unless the fault is `late` or `hold`.
      let gate = Lock<Gate?>(nil)

      init(_ client: Int32, _ server: Int32) { (self.client, self.server) = (client, server) }

      // Both threads have ended, so the numbers may be used for other files.
      deinit {
        close(client)
        close(server)
      }
    }

    /// The folder of the socket.
    let folder: String
    private let server: String
    private let listener: Int32
    private let state = Lock(State())

    var url: String { "postgresql://postgres@/postgres?host=\(folder)" }

    /// - Parameter server: the URL of the server, on a socket.
    init(_ server: String) throws {
      let host = try ConnectionOptions(PostgreSQLConfiguration(url: server)).withParameters {
        keywords, values, _ in
        values[keywords.firstIndex(of: "host")!]
      }
      self.server = host + "/.s.PGSQL.5432"
      folder = NSTemporaryDirectory() + "/cde-faults-\(UUID().uuidString.prefix(8))"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      let listener = Self.socket()
      self.listener = listener
      let bound = CuttingProxy.withAddress(folder + "/.s.PGSQL.5432") { Glibc.bind(listener, $0, $1) }
      precondition(bound == 0 && listen(listener, 16) == 0, "The proxy can't listen")
      Thread.detachNewThread { [weak self] in
        while true {
          let client = accept(listener, nil, nil)
          guard client >= 0, let self else {
            if client >= 0 { close(client) }
            break
          }
          connect(client)
        }
      }
    }

    deinit {
      release()
      shutdown(listener, Int32(SHUT_RDWR))
      close(listener)
      try? FileManager.default.removeItem(atPath: folder)
    }

    // MARK: Control

    /// Counts from zero. The fault happens when its byte comes.
    func arm(_ plan: Plan?) {
      state.withLock { state in
        state.plan = plan
        state.counts = [0, 0]
        state.hasFired = false
        state.held = Gate()
      }
    }

    /// Ends the counting.
    ///
    /// - Returns: the bytes since ``arm(_:)``, and whether the fault happened.
    func disarm() -> (counts: [Direction: Int], hasFired: Bool) {
      state.withLock { state in
        state.plan = nil
        return ([.toServer: state.counts[0], .toClient: state.counts[1]], state.hasFired)
      }
    }

    /// Waits until bytes are held back. `cancelHold()` ends the waiting as well.
    func waitUntilHeld() { state.withLock { $0.held }.pass() }

    /// Ends ``waitUntilHeld()`` if the byte has not come, and lets later bytes pass: what the server says when a test ends its process
    /// would be held back after ``release()``.
    func cancelHold() {
      let held = state.withLock { state in
        state.plan = nil
        return state.held
      }
      held.open()
    }

    /// Sends what is held back, and lets the server see the end of connections that its clients lost.
    func release() {
      let gates = state.withLock { state in
        defer { (state.late, state.holding) = ([], nil) }
        return state.late + [state.holding].compactMap { $0 }
      }
      for gate in gates { gate.open() }
    }

    /// Waits until all connections but so many have ended, and with them their last bytes.
    func waitUntilUnused(besides count: Int = 0) {
      waitUntil("A connection does not end") { state.withLock { $0.threads } <= 2 * count }
    }

    func acceptAgain() { state.withLock { $0.refuses = false } }

    // MARK: Passing on

    /// A socket that a server, which a test starts meanwhile, does not inherit: it would keep connections open.
    private static func socket() -> Int32 {
      Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }

    private func connect(_ client: Int32) {
      _ = fcntl(client, F_SETFD, FD_CLOEXEC)
      if state.withLock({ $0.refuses }) {
        close(client)
        return
      }
      let server = Self.socket()
      let link = Link(client, server)
      guard CuttingProxy.withAddress(self.server, { Glibc.connect(server, $0, $1) }) == 0 else { return }
      state.withLock { $0.threads += 2 }
      for direction in Direction.allCases {
        Thread.detachNewThread { [self] in
          let (from, to) = direction == .toServer ? (client, server) : (server, client)
          var buffer = [UInt8](repeating: 0, count: 1 << 16)
          while case let count = read(from, &buffer, buffer.count), count > 0 {
            pass(buffer[..<count], direction, link, to)
          }
          link.gate.withLock { $0 }?.pass()
          shutdown(to, Int32(direction == .toServer ? SHUT_WR : SHUT_RDWR))
          state.withLock { $0.threads -= 1 }
        }
      }
    }

    private func pass(_ bytes: ArraySlice<UInt8>, _ direction: Direction, _ link: Link, _ target: Int32) {
      guard let (fault, rest) = take(bytes.count, direction) else {
        CuttingProxy.send(bytes, to: target)
        if direction == .toServer { releaseLate(after: bytes) }
        return
      }
      if fault == .trickle {
        for index in bytes.indices {
          CuttingProxy.send(bytes[index...index], to: target)
          waitUntilRead(target)
        }
        return
      }
      let middle = bytes.startIndex + rest
      // Known before the receiver can answer, so that a release that follows the answer opens it.
      let gate = Gate()
      if fault == .late || fault == .hold { link.gate.withLock { $0 = gate } }
      if fault == .late { state.withLock { $0.late.append(gate) } }
      let held = state.withLock { state in
        if fault == .hold { state.holding = gate }
        return state.held
      }
      CuttingProxy.send(bytes[..<middle], to: target)
      switch fault {
      case .cut, .cutAndRefuse:
        shutdown(link.client, Int32(SHUT_RDWR))
        shutdown(link.server, Int32(SHUT_RDWR))
        return
      case .late:
        shutdown(link.client, Int32(SHUT_RDWR))
        if direction == .toServer { gate.pass() }
      case .split: waitUntilRead(target)
      case .hold:
        held.open()
        gate.pass()
      case .trickle: break
      }
      CuttingProxy.send(bytes[middle...], to: target)
    }

    /// Counts bytes.
    ///
    /// - Returns: the fault that these bytes meet, and how many of them pass before it.
    private func take(_ count: Int, _ direction: Direction) -> (Fault, Int)? {
      state.withLock { state in
        let start = state.counts[direction.rawValue]
        state.counts[direction.rawValue] += count
        guard let plan = state.plan else { return nil }
        if plan.fault == .trickle {
          state.hasFired = true
          return (.trickle, 0)
        }
        guard plan.direction == direction, plan.offset <= start + count,
          plan.offset > start || plan.offset == 0
        else { return nil }
        state.plan = nil
        state.hasFired = true
        if plan.fault == .cutAndRefuse { state.refuses = true }
        return (plan.fault, plan.offset - start)
      }
    }

    /// Another connection asks for the token, or repeats the transaction. The server gets the late bytes when the first statement
    /// with parameters is on its way, so that this one may meet the open transaction and its locks.
    private func releaseLate(after bytes: ArraySlice<UInt8>) {
      // libpq sends the message Bind first.
      guard bytes.first == UInt8(ascii: "B") else { return }
      let late = state.withLock { state in
        defer { state.late = [] }
        return state.late
      }
      for gate in late { gate.open() }
    }

    /// Waits until the other process, or libpq, has read what was sent.
    private func waitUntilRead(_ target: Int32) {
      waitUntil("The receiver does not read") {
        var unread: Int32 = 0
        // Of a socket within the machine: the bytes that its other end did not read.
        guard ioctl(target, UInt(TIOCOUTQ), &unread) == 0 else { return true }
        return unread == 0
      }
    }
  }
#endif
