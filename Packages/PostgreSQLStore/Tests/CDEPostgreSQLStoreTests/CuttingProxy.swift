#if PostgreSQL
  @testable import CDEPostgreSQLStore
  @_spi(CDE) import CDEExecutors
  import Foundation

  /// A socket between a store and its server that cuts one connection at its commit.
  final class CuttingProxy: Sendable {
    enum Cut: Sendable {
      /// The server does not get the commit.
      case beforeCommit
      /// The server commits, and its answer is dropped.
      case afterCommit
      /// The client loses its connection, and the server gets the commit when ``releaseCommit()`` is called.
      case delayedCommit
    }

    /// The folder of the socket.
    let folder: String
    private let server: String
    private let listener: Int32
    private let cut = Lock<Cut?>(nil)
    private let release = DispatchSemaphore(value: 0)

    /// - Parameter server: the URL of the server, on a socket.
    init(_ server: String) throws {
      let host = try ConnectionOptions(PostgreSQLConfiguration(url: server)).withParameters {
        keywords, values, _ in
        values[keywords.firstIndex(of: "host")!]
      }
      self.server = host + "/.s.PGSQL.5432"
      folder = NSTemporaryDirectory() + "/cde-proxy-\(UUID().uuidString.prefix(8))"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      self.listener = listener
      let bound = Self.withAddress(folder + "/.s.PGSQL.5432") { Glibc.bind(listener, $0, $1) }
      precondition(bound == 0 && listen(listener, 16) == 0, "The proxy can't listen")
      Thread.detachNewThread { [weak self] in
        while true {
          let client = accept(listener, nil, nil)
          guard client >= 0, let self else { break }
          serve(client)
        }
      }
    }

    deinit {
      shutdown(listener, Int32(SHUT_RDWR))
      close(listener)
      try? FileManager.default.removeItem(atPath: folder)
    }

    /// The next commit of any connection is cut.
    func cutNext(_ cut: Cut) { self.cut.withLock { $0 = cut } }

    func releaseCommit() { release.signal() }

    static func withAddress<Result>(
      _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
      return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    }

    private func serve(_ client: Int32) {
      let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      guard Self.withAddress(self.server, { connect(server, $0, $1) }) == 0 else {
        close(client)
        close(server)
        return
      }
      let dropsAnswers = Lock(false)
      let box = Box(dropsAnswers)
      let ends = DispatchGroup()
      for _ in 0..<2 { ends.enter() }
      ends.notify(queue: .global()) {
        close(client)
        close(server)
      }
      Thread.detachNewThread { [self] in
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = read(client, &buffer, buffer.count), count > 0 {
          switch takeCut(buffer[..<count]) {
          case nil: Self.send(buffer[..<count], to: server)
          case .beforeCommit:
            shutdown(client, Int32(SHUT_RDWR))
            shutdown(server, Int32(SHUT_RDWR))
          case .afterCommit:
            box.value.withLock { $0 = true }
            Self.send(buffer[..<count], to: server)
          case .delayedCommit:
            shutdown(client, Int32(SHUT_RDWR))
            release.wait()
            Self.send(buffer[..<count], to: server)
          // The connection stays until the server has read it.
          }
        }
        shutdown(server, Int32(SHUT_WR))
        ends.leave()
      }
      Thread.detachNewThread {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = read(server, &buffer, buffer.count), count > 0 {
          if box.value.withLock({ $0 }) { break }
          Self.send(buffer[..<count], to: client)
        }
        shutdown(client, Int32(SHUT_RDWR))
        ends.leave()
      }
    }

    /// A lock that two threads share.
    private final class Box: Sendable {
      let value: Lock<Bool>
      init(_ value: consuming Lock<Bool>) { self.value = value }
    }

    private func takeCut(_ bytes: ArraySlice<UInt8>) -> Cut? {
      guard String(decoding: bytes, as: UTF8.self).contains("COMMIT") else { return nil }
      return cut.withLock { cut in
        defer { cut = nil }
        return cut
      }
    }

    static func send(_ bytes: ArraySlice<UInt8>, to file: Int32) {
      var rest = bytes
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes {
          Glibc.send(file, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if count <= 0 { return }
        rest = rest.dropFirst(count)
      }
    }
  }
#endif
