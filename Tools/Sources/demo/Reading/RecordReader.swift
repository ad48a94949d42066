import Foundation

/// Reads the records of a package database, one after the other: dpkg's status file, or an archive's list.
///
/// Records are paragraphs of `Field: value` lines; lines that begin with a space continue the field above.
struct RecordReader {
  private var lines: LineReader

  /// - Parameter more: the next piece of the stream, nil at its end.
  init(more: @escaping () throws -> Data?) { lines = LineReader(more: more) }

  /// The next record, understood or not; nil at the end.
  ///
  /// - Throws: what reading the stream throws.
  mutating func next() throws -> ReadRecord? {
    while let paragraph = try nextParagraph() {
      if let record = paragraph.read() { return record }
    }
    return nil
  }

  private mutating func nextParagraph() throws -> Paragraph? {
    var paragraph: Paragraph?
    while let line = try lines.next() {
      let isEmpty = lines.buffer[line.range].allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
      if isEmpty && !line.isCut {
        if paragraph != nil { return paragraph }
        continue
      }
      lines.buffer.withUnsafeBytes { bytes in
        let text = UnsafeRawBufferPointer(rebasing: bytes[line.range])
        if paragraph == nil { paragraph = Paragraph(firstLine: line.number) }
        paragraph!.take(text, line)
      }
    }
    return paragraph
  }
}
