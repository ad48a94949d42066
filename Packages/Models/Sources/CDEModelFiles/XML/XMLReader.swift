internal import Foundation

/// The start of an element, with its attributes.
struct XMLTag {
  let name: String
  private(set) var attributes: [(name: String, value: String)] = []
  /// The line of the tag in the file, counted from 1.
  let line: Int

  init(name: String, line: Int) {
    self.name = name
    self.line = line
  }

  /// The value of an attribute; `nil` when the tag does not have it.
  subscript(name: String) -> String? {
    for attribute in attributes where attribute.name == name { return attribute.value }
    return nil
  }

  mutating func add(_ name: String, _ value: String) -> Bool {
    guard self[name] == nil else { return false }
    attributes.append((name, value))
    return true
  }
}

/// Reads XML as a sequence of events, with the parts of the language that model files use.
///
/// Foundation's parser is a wrapper of libxml2, which each program would have to link. This reader needs
/// neither: it accepts UTF-8, reads no other file, and knows no entities but the five of XML, so a small file
/// can't expand to a large one.
struct XMLReader {
  enum Event {
    case start(XMLTag)
    case end(String)
    case text(String)
    case finished
  }

  /// What happens with a document type declaration. A declaration with an internal subset, which could define
  /// entities, is always an error.
  enum DocumentType { case refused, skipped }

  static let depthLimit = 64
  static let attributeLimit = 256

  let file: String
  private let bytes: [UInt8]
  private let documentType: DocumentType
  private var position = 0
  private var open: [String] = []
  /// The end of an element that was closed by its own start tag.
  private var pendingEnd: String?
  private var hasRoot = false
  /// The line of an offset behind which no line end has been counted. Tags follow each other, so each line
  /// end is counted once.
  private var counted = (offset: 0, line: 1)

  init(_ data: Data, file: String, documentType: DocumentType = .refused) throws(ModelFileError) {
    bytes = [UInt8](data)
    self.file = file
    self.documentType = documentType
    if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
      throw ModelFileError(
        .unsupportedFormat, "The file is encoded in UTF-16. Save it in UTF-8.", file: file, line: 1)
    }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw ModelFileError(
        .damaged, "The file is not encoded in UTF-8. Save it in UTF-8.", file: file,
        line: Self.lineOfOtherEncoding(bytes))
    }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// The first line that is not UTF-8, counted from 1. No byte within a character is a line end.
  private static func lineOfOtherEncoding(_ bytes: [UInt8]) -> Int {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return 1 + (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0)
  }

  /// The line of an offset, counted from 1.
  private func line(of offset: Int) -> Int {
    let start = counted.offset <= offset ? counted : (offset: 0, line: 1)
    return bytes[start.offset..<min(offset, bytes.count)].reduce(start.line) {
      $1 == UInt8(ascii: "\n") ? $0 + 1 : $0
    }
  }

  /// An error at an offset; by default where the reader is.
  private func error(
    _ code: ModelFileError.Code, _ text: String, at offset: Int? = nil, element: String? = nil
  ) -> ModelFileError {
    ModelFileError(
      code, text, file: file, line: line(of: offset ?? position), element: element ?? open.last)
  }

  /// An error at an element, or where the reader is.
  func error(_ code: ModelFileError.Code, _ text: String, in tag: XMLTag? = nil) -> ModelFileError {
    ModelFileError(
      code, text, file: file, line: tag?.line ?? line(of: position), element: tag?.name ?? open.last)
  }

  // MARK: Events

  mutating func next() throws(ModelFileError) -> Event {
    if let name = pendingEnd {
      pendingEnd = nil
      open.removeLast()
      return .end(name)
    }
    while position < bytes.count {
      if bytes[position] != UInt8(ascii: "<") {
        let text = try text()
        if open.isEmpty {
          guard text.utf8.allSatisfy(Self.isSpace) else {
            throw error(.damaged, "There is text outside of the root element. Remove it.")
          }
          continue
        }
        return .text(text)
      }
      if skips("<!--") {
        try skip(behind: "-->", "a comment")
      } else if skips("<![CDATA[") {
        let start = position
        try skip(behind: "]]>", "a CDATA section")
        return .text(String(decoding: bytes[start..<(position - 3)], as: UTF8.self))
      } else if skips("<?") {
        try skip(behind: "?>", "a processing instruction")
      } else if skips("<!DOCTYPE") {
        try skipDocumentType()
      } else if skips("</") {
        return try endTag()
      } else {
        return .start(try startTag())
      }
    }
    guard open.isEmpty, hasRoot else {
      throw error(
        .damaged, open.last.map { "The file ends inside of <\($0)>." } ?? "The file has no element.")
    }
    return .finished
  }

  /// Reads behind the end of the element that was started last.
  mutating func skipElement() throws(ModelFileError) {
    let depth = open.count
    while open.count >= depth {
      if case .finished = try next() { return }
    }
  }

  /// The text of the element that was started last, up to and with its end. Elements in it are left out.
  mutating func elementText() throws(ModelFileError) -> String {
    var result = ""
    while true {
      switch try next() {
      case .text(let part): result += part
      case .start: try skipElement()
      case .end, .finished: return result
      }
    }
  }

  // MARK: Tags

  private mutating func startTag() throws(ModelFileError) -> XMLTag {
    let start = position
    position += 1
    guard open.count < Self.depthLimit else {
      throw error(.tooLarge, "Elements are nested more than \(Self.depthLimit) levels deep.")
    }
    guard !open.isEmpty || !hasRoot else {
      throw error(.damaged, "The file has a second root element. Remove it.")
    }
    counted = (start, line(of: start))
    var tag = XMLTag(name: try name(), line: counted.line)
    while true {
      let hadSpace = skipSpace()
      guard position < bytes.count else { throw error(.damaged, "The file ends inside of <\(tag.name)>.") }
      if skips("/>") {
        pendingEnd = tag.name
        break
      }
      if skips(">") { break }
      guard hadSpace else { throw error(.damaged, "<\(tag.name)> is malformed.", element: tag.name) }
      let attribute = try name()
      _ = skipSpace()
      guard skips("=") else {
        throw error(.damaged, "The attribute \(attribute) has no value.", element: tag.name)
      }
      _ = skipSpace()
      let value = try quotedValue(of: attribute, in: tag.name)
      guard tag.attributes.count < Self.attributeLimit else {
        throw error(.tooLarge, "<\(tag.name)> has more than \(Self.attributeLimit) attributes.")
      }
      guard tag.add(attribute, value) else {
        throw error(.damaged, "<\(tag.name)> has the attribute \(attribute) twice.", element: tag.name)
      }
    }
    hasRoot = true
    open.append(tag.name)
    return tag
  }

  private mutating func endTag() throws(ModelFileError) -> Event {
    let name = try name()
    _ = skipSpace()
    guard skips(">"), let expected = open.last, expected == name else {
      throw error(
        .damaged, "</\(name)> stands where \(open.last.map { "</\($0)>" } ?? "no end of an element") belongs."
      )
    }
    open.removeLast()
    return .end(name)
  }

  private mutating func name() throws(ModelFileError) -> String {
    let start = position
    while position < bytes.count, Self.isNameByte(bytes[position]) { position += 1 }
    guard start < position, position - start <= 1024 else {
      throw error(.damaged, "A name of an element or attribute is missing or malformed.")
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func quotedValue(
    of attribute: String, in element: String
  ) throws(ModelFileError) -> String {
    guard position < bytes.count,
      bytes[position] == UInt8(ascii: "\"") || bytes[position] == UInt8(ascii: "'")
    else {
      throw error(.damaged, "The value of \(attribute) is not in quotes.", element: element)
    }
    let quote = bytes[position]
    position += 1
    let start = position
    var isPlain = true
    while position < bytes.count, bytes[position] != quote {
      switch bytes[position] {
      case UInt8(ascii: "&"), 0x09, 0x0A, 0x0D: isPlain = false
      case UInt8(ascii: "<"):
        throw error(.damaged, "The value of \(attribute) contains “<”. Write “&lt;”.", element: element)
      default: break
      }
      position += 1
    }
    guard position < bytes.count else {
      throw error(.damaged, "The value of \(attribute) has no end.", at: start, element: element)
    }
    let raw = bytes[start..<position]
    position += 1
    if isPlain { return String(decoding: raw, as: UTF8.self) }
    // White space of a value is one blank each; only references keep line ends.
    return try expanded(raw, spaces: true, from: start)
  }

  private mutating func text() throws(ModelFileError) -> String {
    let start = position
    var isPlain = true
    while position < bytes.count, bytes[position] != UInt8(ascii: "<") {
      if bytes[position] == UInt8(ascii: "&") || bytes[position] == 0x0D { isPlain = false }
      position += 1
    }
    let raw = bytes[start..<position]
    return isPlain
      ? String(decoding: raw, as: UTF8.self) : try expanded(raw, spaces: false, from: start)
  }

  // MARK: References

  private func expanded(
    _ raw: ArraySlice<UInt8>, spaces: Bool, from start: Int
  ) throws(ModelFileError) -> String {
    var result: [UInt8] = []
    result.reserveCapacity(raw.count)
    var index = raw.startIndex
    while index < raw.endIndex {
      let byte = raw[index]
      switch byte {
      case UInt8(ascii: "&"):
        guard let end = raw[index...].prefix(16).firstIndex(of: UInt8(ascii: ";")) else {
          throw error(.damaged, "A “&” begins no reference. Write “&amp;”.", at: index)
        }
        let name = String(decoding: raw[(index + 1)..<end], as: UTF8.self)
        guard let character = Self.character(name) else {
          throw error(
            .damaged, "“&\(name);” is no reference that model files may have. Write the character itself.",
            at: index)
        }
        result += String(character).utf8
        index = end
      case 0x0D:
        // A line end of two bytes is one.
        if index + 1 < raw.endIndex, raw[index + 1] == 0x0A { index += 1 }
        result.append(spaces ? 0x20 : 0x0A)
      case 0x09, 0x0A: result.append(spaces ? 0x20 : byte)
      default: result.append(byte)
      }
      index += 1
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func character(_ name: String) -> Unicode.Scalar? {
    switch name {
    case "lt": return "<"
    case "gt": return ">"
    case "amp": return "&"
    case "quot": return "\""
    case "apos": return "'"
    default: break
    }
    guard name.hasPrefix("#") else { return nil }
    let digits = name.dropFirst()
    let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    guard let number, number != 0 else { return nil }
    return Unicode.Scalar(number)
  }

  // MARK: Skipping

  private mutating func skips(_ token: StaticString) -> Bool {
    let count = token.utf8CodeUnitCount
    guard count <= bytes.count - position else { return false }
    for index in 0..<count where bytes[position + index] != token.utf8Start[index] { return false }
    position += count
    return true
  }

  private mutating func skip(behind token: StaticString, _ what: String) throws(ModelFileError) {
    let start = position
    while position < bytes.count {
      if skips(token) { return }
      position += 1
    }
    throw error(.damaged, "The file ends inside of \(what).", at: start)
  }

  private mutating func skipDocumentType() throws(ModelFileError) {
    guard documentType == .skipped, !hasRoot else {
      throw error(
        .damaged, "The file has a document type declaration, which model files don't have. Remove it.",
        element: "!DOCTYPE")
    }
    let start = position
    var quote: UInt8?
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if let current = quote {
        if byte == current { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: "[") {
        throw error(
          .damaged, "The document type declares entities of its own. Remove them.", at: start,
          element: "!DOCTYPE")
      } else if byte == UInt8(ascii: ">") {
        return
      }
    }
    throw error(.damaged, "The file ends inside of its document type.", at: start, element: "!DOCTYPE")
  }

  private mutating func skipSpace() -> Bool {
    let start = position
    while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    return position > start
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: ":"), 0x80...:
      true
    default: false
    }
  }
}
