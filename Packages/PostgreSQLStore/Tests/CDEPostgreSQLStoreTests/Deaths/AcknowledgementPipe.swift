#if PostgreSQL
  import Foundation

  /// A named pipe for the acknowledgements of a process that is going to be killed.
  ///
  /// What a process has written is in the kernel, and outlives it.
  final class AcknowledgementPipe: Sendable {
    let path: String
    private let file: Int32

    init() {
      path = NSTemporaryDirectory() + "/cde-pipe-\(UUID().uuidString.prefix(8))"
      precondition(mkfifo(path, 0o600) == 0, "The pipe can't be made")
      // Open for writing as well, so that the pipe has a reader and keeps its bytes while no process writes.
      file = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
      precondition(file >= 0, "The pipe can't be opened")
    }

    deinit {
      close(file)
      unlink(path)
    }

    /// The numbers that were written since the last call.
    func take() -> [Int] {
      var numbers: [Int] = []
      var number = 0
      // A write of so few bytes is whole or not there at all.
      while read(file, &number, MemoryLayout<Int>.size) == MemoryLayout<Int>.size { numbers.append(number) }
      return numbers
    }

    /// The end that the other process writes to.
    struct Writer {
      private let file: Int32

      init(_ path: String) {
        file = open(path, O_WRONLY)
        precondition(file >= 0, "The pipe can't be opened")
      }

      func write(_ number: Int) {
        var number = number
        let count = Glibc.write(file, &number, MemoryLayout<Int>.size)
        precondition(count == MemoryLayout<Int>.size, "An acknowledgement can't be written")
      }
    }
  }
#endif
