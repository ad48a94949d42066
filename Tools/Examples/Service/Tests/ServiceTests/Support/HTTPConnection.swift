import CoreDataEvolution

@testable import ServiceKit

/// One connection of a client. Its calls wait on threads of their own.
///
/// It is made of sockets, because the tests have to see what a connection does when its server stops or is killed.
final class HTTPConnection: @unchecked Sendable {
  // Guard: one task at a time uses a connection.
  private let descriptor: Int32
  private var buffer: [UInt8] = []

  struct Reply: Sendable {
    var status: Int
    /// With names in small letters.
    var headers: [String: String]
    var body = Data()

    /// The body's object.
    func json() throws -> [String: Any] {
      guard let object = try JSONSerialization.jsonObject(with: body) as? [String: Any] else {
        throw Failure.noJSON
      }
      return object
    }
  }

  enum Failure: Error, Equatable {
    case noConnection
    case closed
    case timedOut
    case noReply(String)
    case noJSON
  }

  init(port: Int) throws {
    // A process that another test starts must not keep the connection open.
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else {
      Glibc.close(descriptor)
      throw Failure.noConnection
    }
    // A test that waits for what never comes fails instead of hanging.
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { Glibc.close(descriptor) }

  /// Sends a request and waits for its whole answer.
  func send(
    _ method: String, _ path: String, _ headers: [String: String] = [:], _ body: String? = nil
  ) async throws -> Reply {
    try await onOwnThread { [self] in
      try write(method, path, headers, body)
      var reply = try readHead()
      if method == "HEAD" { return reply }
      if let length = reply.headers["content-length"].flatMap(Int.init) {
        reply.body = try Data(read(length))
      } else if reply.headers["transfer-encoding"] == "chunked" {
        while let chunk = try readChunk() { reply.body.append(contentsOf: chunk) }
      }
      return reply
    }
  }

  func write(_ method: String, _ path: String, _ headers: [String: String], _ body: String?) throws {
    var text = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n"
    for (name, value) in headers { text += "\(name): \(value)\r\n" }
    if body != nil, headers["Content-Type"] == nil { text += "Content-Type: application/json\r\n" }
    if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
    text += "\r\n" + (body ?? "")
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Failure.closed }
      bytes = bytes.dropFirst(count)
    }
  }

  func readHead() throws -> Reply {
    let line = try readLine()
    let parts = line.split(separator: " ")
    guard parts.count >= 2, let status = Int(parts[1]) else { throw Failure.noReply(line) }
    var headers: [String: String] = [:]
    while case let line = try readLine(), !line.isEmpty {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = parts.count < 2 ? "" : parts[1].trimmingCharacters(in: .whitespaces)
    }
    return Reply(status: status, headers: headers)
  }

  /// - Returns: nil at the end of the body.
  func readChunk() throws -> [UInt8]? {
    guard let length = Int(try readLine(), radix: 16) else {
      throw Failure.noReply("a chunk without a length")
    }
    let bytes = try read(length)
    _ = try readLine()
    return length == 0 ? nil : bytes
  }

  private func readLine() throws -> String {
    while true {
      if let end = buffer.firstIndex(of: 0x0A) {
        defer { buffer.removeSubrange(...end) }
        return String(decoding: buffer[..<end], as: UTF8.self).trimmingCharacters(in: ["\r"])
      }
      try receive()
    }
  }

  private func read(_ count: Int) throws -> [UInt8] {
    while buffer.count < count { try receive() }
    defer { buffer.removeFirst(count) }
    return Array(buffer[..<count])
  }

  private func receive() throws {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    if count < 0, errno == EAGAIN { throw Failure.timedOut }
    guard count > 0 else { throw Failure.closed }
    buffer += bytes[..<count]
  }
}
