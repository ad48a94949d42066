import CoreDataEvolution
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A place where processes wait for each other: named pipes in a folder, because a pipe needs no polling.
struct Gate: Sendable {
  private let folder: URL
  private let count: Int

  private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// - Parameter count: the number of processes that wait, besides the one that opens the gate.
  init(_ folder: URL, count: Int) {
    self.folder = folder
    self.count = count
  }

  /// Makes the pipes, before the processes are started.
  func make() {
    for name in ["arrived"] + (0..<count).map({ "go \($0)" }) {
      precondition(mkfifo(path(name), 0o600) == 0, "The pipe \(name) could not be made: \(errno)")
    }
  }

  /// Waits until all processes have arrived, and lets them go on. Blocks the thread.
  func open() {
    for _ in 0..<count { read("arrived") }
    for number in 0..<count { write("go \(number)") }
  }

  /// Waits until the gate is opened. Blocks the thread.
  func pass(_ number: Int) {
    arrive()
    read("go \(number)")
  }

  /// Counts as a process that has arrived, for one that ended before.
  func arrive() { write("arrived") }

  private func read(_ name: String) {
    // For reading and writing, so that opening does not wait for the other side.
    let file = opened(name)
    var byte: UInt8 = 0
    #if canImport(Darwin)
      let count = Darwin.read(file, &byte, 1)
    #elseif canImport(Musl)
      let count = Musl.read(file, &byte, 1)
    #else
      let count = Glibc.read(file, &byte, 1)
    #endif
    precondition(count == 1, "The pipe \(name) could not be read: \(errno)")
    close(file)
  }

  private func write(_ name: String) {
    let file = opened(name)
    var byte: UInt8 = 1
    #if canImport(Darwin)
      let count = Darwin.write(file, &byte, 1)
    #elseif canImport(Musl)
      let count = Musl.write(file, &byte, 1)
    #else
      let count = Glibc.write(file, &byte, 1)
    #endif
    precondition(count == 1, "The pipe \(name) could not be written: \(errno)")
    Gate.keep(file)
  }

  private func opened(_ name: String) -> CInt {
    #if canImport(Darwin)
      let file = Darwin.open(path(name), O_RDWR | O_CLOEXEC)
    #elseif canImport(Musl)
      let file = Musl.open(path(name), O_RDWR | O_CLOEXEC)
    #else
      let file = Glibc.open(path(name), O_RDWR | O_CLOEXEC)
    #endif
    precondition(file >= 0, "The pipe \(name) could not be opened: \(errno)")
    return file
  }

  // A pipe forgets its bytes when all its descriptors are closed, so those that were written stay open.
  private static let kept = Mutex<[CInt]>([])
  private static func keep(_ file: CInt) { kept.withLock { $0.append(file) } }
}
