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

  private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  private func read(_ name: String) {
    let byte = try? opened(name).read(upToCount: 1)
    precondition(byte?.count == 1, "The pipe \(name) could not be read.")
  }

  private func write(_ name: String) {
    let pipe = opened(name)
    pipe.write(Data([1]))
    // A pipe forgets its bytes when all its descriptors are closed, so those that were written stay open.
    Self.kept.withLock { $0.append(pipe) }
  }

  /// Opens a pipe for reading and writing, so that opening does not wait for the other side.
  private func opened(_ name: String) -> FileHandle {
    guard let pipe = FileHandle(forUpdatingAtPath: path(name)) else {
      preconditionFailure("The pipe \(name) could not be opened: \(errno)")
    }
    return pipe
  }

  private static let kept = Mutex<[FileHandle]>([])
}
