import Foundation

/// Reads the records of one file, through a decompressor where one is needed, a piece at a time.
final class SourceReader {
  private var records: RecordReader
  private let stream: Stream

  /// - Parameters:
  ///   - file: positioned behind `start`.
  ///   - start: what was read of it already.
  init(path: String, file: FileHandle, start: Data) {
    let stream = Stream(path: path, file: file, start: start)
    self.stream = stream
    records = RecordReader(more: stream.next)
  }

  init(path: String, decompressing compression: Compression) throws {
    guard let command = compression.command(for: path) else {
      throw SourceError(path: path, reason: compression.remedy)
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let stream = Stream(path: path, file: pipe.fileHandleForReading, process: process)
    self.stream = stream
    records = RecordReader(more: stream.next)
  }

  deinit { stream.close() }

  /// The next record; nil at the end.
  ///
  /// - Throws: ``SourceError`` when the file can't be read to its end.
  func next() throws -> ReadRecord? { try records.next() }

  /// How many records there are from here on, counted by the lines that name a package.
  ///
  /// - Throws: ``SourceError`` when the file can't be read to its end.
  static func count(in source: PackageSource) throws -> Int {
    let reader = try source.open()
    let name = Array("\nPackage:".utf8)
    var matched = 1
    var count = 0
    while let data = try reader.stream.next() {
      data.withUnsafeBytes { bytes in
        for byte in bytes {
          if byte == name[matched] {
            matched += 1
            if matched < name.count { continue }
            count += 1
            matched = 0
          } else {
            matched = byte == name[0] ? 1 : 0
          }
        }
      }
    }
    return count
  }

  /// The bytes behind the records.
  private final class Stream {
    private let path: String
    private let file: FileHandle
    private var process: Process?
    private var start: Data?

    init(path: String, file: FileHandle, start: Data = Data(), process: Process? = nil) {
      self.path = path
      self.file = file
      self.start = start.isEmpty ? nil : start
      self.process = process
    }

    func next() throws -> Data? {
      if let start {
        self.start = nil
        return start
      }
      do {
        if let data = try file.read(upToCount: 1 << 18), !data.isEmpty { return data }
      } catch {
        throw SourceError(path: path, reason: "\(error.localizedDescription)")
      }
      try finish()
      return nil
    }

    /// A decompressor that failed has not delivered everything.
    private func finish() throws {
      guard let process else { return }
      self.process = nil
      process.waitUntilExit()
      guard process.terminationStatus == 0 else {
        throw SourceError(
          path: path,
          reason: "\(process.executableURL?.lastPathComponent ?? "the decompressor") failed "
            + "(exit status \(process.terminationStatus)); what it gave until then was read")
      }
    }

    /// Ends early, too: a decompressor must not wait for ever for a reader of its output.
    func close() {
      try? file.close()
      if let process {
        process.terminate()
        process.waitUntilExit()
      }
      process = nil
    }
  }
}
