import Foundation

/// Cuts a stream of bytes into lines without holding more than a piece of it.
struct LineReader {
  /// One line, without its end.
  struct Line {
    var number: Int
    /// Where its bytes are in ``LineReader/buffer``, until the next line is read.
    var range: Range<Int>
    /// The line was longer than any sensible one; only its start is there.
    var isTooLong = false
    /// The stream ended within the line.
    var isCut = false
  }

  private(set) var buffer: [UInt8] = []
  private var position = 0
  private var lineCount = 0
  private var isAtEnd = false
  private let lengthLimit: Int
  private let more: () throws -> Data?

  /// - Parameters:
  ///   - lengthLimit: bytes a line may have; binary files have lines of any length.
  ///   - more: the next piece of the stream, nil at its end.
  init(lengthLimit: Int = 1 << 20, more: @escaping () throws -> Data?) {
    self.lengthLimit = lengthLimit
    self.more = more
  }

  mutating func next() throws -> Line? {
    var searched = position
    while true {
      if let end = newline(from: searched) {
        defer { position = end + 1 }
        lineCount += 1
        return Line(number: lineCount, range: position..<end)
      }
      if isAtEnd {
        guard position < buffer.count else { return nil }
        defer { position = buffer.count }
        lineCount += 1
        return Line(number: lineCount, range: position..<buffer.count, isCut: true)
      }
      if buffer.count - position > lengthLimit { return try skipLongLine() }
      searched = try refill()
    }
  }

  /// Reads on; what was consumed makes room.
  ///
  /// - Returns: where the new bytes begin.
  private mutating func refill() throws -> Int {
    buffer.removeSubrange(..<position)
    position = 0
    let start = buffer.count
    if let data = try more() { buffer.append(contentsOf: data) } else { isAtEnd = true }
    return start
  }

  private mutating func skipLongLine() throws -> Line {
    let start = Array(buffer[position..<(position + 80)])
    position = buffer.count
    var end: Int?
    repeat {
      let fresh = try refill()
      end = newline(from: fresh)
      if end == nil { position = buffer.count }
    } while end == nil && !isAtEnd
    // The start goes back in front of what follows, so that it can be read like any line's.
    let rest = end.map { Array(buffer[($0 + 1)...]) } ?? []
    buffer = start + rest
    position = start.count
    lineCount += 1
    return Line(number: lineCount, range: 0..<start.count, isTooLong: true, isCut: end == nil)
  }

  private func newline(from index: Int) -> Int? {
    buffer.withUnsafeBytes { bytes in
      guard index < bytes.count, let base = bytes.baseAddress,
        let found = memchr(base + index, 0x0A, bytes.count - index)
      else { return nil }
      return UnsafeRawPointer(found) - base
    }
  }
}
