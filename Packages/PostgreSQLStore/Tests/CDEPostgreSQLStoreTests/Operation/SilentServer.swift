#if PostgreSQL
  import Foundation

  /// Listens on a port of this machine, and never says a word.
  final class SilentServer {
    private let descriptor: Int32
    let port: UInt16

    init() throws {
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let descriptor = descriptor
      let isListening = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, length) == 0 && listen(descriptor, 16) == 0
            && getsockname(descriptor, $0, &length) == 0
        }
      }
      guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
      port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }

    /// How many connections were begun since the last call.
    func takeConnections() -> Int {
      var count = 0
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      while poll(&waiting, 1, 0) == 1 {
        close(accept(descriptor, nil, nil))
        count += 1
      }
      return count
    }
  }
#endif
