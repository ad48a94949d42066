import Foundation

/// The lines of one record, collected.
struct Paragraph {
  private enum Field: Int, CaseIterable {
    case package, status, version, architecture, section, maintainer, installedSize, depends, preDepends,
      provides,
      description

    var name: String {
      switch self {
      case .package: "Package"
      case .status: "Status"
      case .version: "Version"
      case .architecture: "Architecture"
      case .section: "Section"
      case .maintainer: "Maintainer"
      case .installedSize: "Installed-Size"
      case .depends: "Depends"
      case .preDepends: "Pre-Depends"
      case .provides: "Provides"
      case .description: "Description"
      }
    }

    static let names = allCases.map { Array($0.name.utf8) }

    /// Field names mean the same in any case.
    init?(_ bytes: some RandomAccessCollection<UInt8>) {
      let found = Self.names.firstIndex { name in
        name.count == bytes.count && zip(name, bytes).allSatisfy { $0 | 0x20 == $1 | 0x20 }
      }
      guard let found else { return nil }
      self = Self.allCases[found]
    }
  }

  private let firstLine: Int
  private var values = [String?](repeating: nil, count: Field.allCases.count)
  private var valueLines = [Int](repeating: 0, count: Field.allCases.count)
  private var current: Field?
  private var hasFields = false
  private var isCut = false
  private var problem: (line: Int, reason: String)?
  // FNV-1a, which gives the same digest in every process.
  private var digest: UInt64 = 0xcbf2_9ce4_8422_2325

  init(firstLine: Int) { self.firstLine = firstLine }

  // MARK: Collecting

  mutating func take(_ bytes: UnsafeRawBufferPointer, _ line: LineReader.Line) {
    for byte in bytes { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
    digest = (digest ^ 0x0A) &* 0x100_0000_01b3
    if line.isCut {
      isCut = true
      note(line.number, "the file ends within a line")
    }
    if line.isTooLong { note(line.number, "the line is too long") }
    if let first = bytes.first, first == 0x20 || first == 0x09 {
      guard hasFields else { return note(line.number, "a continuation line has no field above it") }
      // Only lists of packages go on over several lines; of a description the first line is enough.
      if let current, current != .description { values[current.rawValue]! += "\n" + text(bytes) }
      return
    }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0,
      bytes[..<colon].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return note(line.number, "the line is no field: \(excerpt(bytes))") }
    hasFields = true
    current = Field(bytes[..<colon])
    guard let current else { return }
    if values[current.rawValue] != nil {
      return note(line.number, "the field \(current.name) is there twice")
    }
    values[current.rawValue] = text(UnsafeRawBufferPointer(rebasing: bytes[(colon + 1)...]))
    valueLines[current.rawValue] = line.number
  }

  private mutating func note(_ line: Int, _ reason: String) {
    if problem == nil { problem = (line, reason) }
  }

  /// Trimmed, and repaired where it is not UTF-8, which some old maintainers' names are not.
  private func text(_ bytes: UnsafeRawBufferPointer) -> String {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    guard let start = bytes.firstIndex(where: { !isSpace($0) }),
      let end = bytes.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(decoding: bytes[start...end], as: UTF8.self)
  }

  private func excerpt(_ bytes: UnsafeRawBufferPointer) -> String {
    let start = String(decoding: bytes.prefix(24), as: UTF8.self)
    return start.debugDescription + (bytes.count > 24 ? "…" : "")
  }

  // MARK: Understanding

  /// What the lines say; nil for a package that is known by name only.
  func read() -> ReadRecord? {
    do throws(Problem) {
      return try record().map { .record($0) }
    } catch {
      let name = self[.package].flatMap { DependencyField.isName($0.utf8) ? $0 : nil }
      return .malformed(MalformedRecord(line: error.line, name: name, reason: error.reason, isCut: isCut))
    }
  }

  private struct Problem: Error {
    var line: Int
    var reason: String
  }

  private subscript(field: Field) -> String? { values[field.rawValue] }

  private func record() throws(Problem) -> PackageRecord? {
    if let problem { throw Problem(line: problem.line, reason: problem.reason) }
    guard let name = self[.package] else {
      throw Problem(line: firstLine, reason: "there is no field Package")
    }
    guard DependencyField.isName(name.utf8) else {
      throw problem(.package, "\(name.prefix(40).debugDescription) is no package name")
    }
    let state = try installationState()
    guard let version = self[.version], !version.isEmpty else {
      // dpkg remembers names it was once asked about.
      if state == "not-installed" { return nil }
      throw Problem(line: firstLine, reason: "there is no field Version")
    }
    if version.utf8.contains(where: { $0 <= 0x20 }) {
      throw problem(.version, "\(version.prefix(40).debugDescription) is no version")
    }
    var size = 0
    if let text = self[.installedSize] {
      guard let number = Int(text), number >= 0 else {
        throw problem(.installedSize, "\(text.prefix(40).debugDescription) is no size")
      }
      size = number
    }
    return PackageRecord(
      name: name, version: version, architecture: self[.architecture] ?? "", section: self[.section] ?? "",
      maintainer: self[.maintainer] ?? "", summary: self[.description] ?? "", installedSize: size,
      isInstalled: state.map { ["installed", "triggers-awaited", "triggers-pending"].contains($0) } ?? false,
      dependencies: try names(.preDepends, .depends), provides: try names(.provides),
      digest: Int(truncatingIfNeeded: digest))
  }

  /// The last of the three words in `Status`; archive lists have none.
  private func installationState() throws(Problem) -> Substring? {
    guard let status = self[.status] else { return nil }
    let words = status.split(separator: " ")
    guard words.count == 3 else {
      throw problem(.status, "\(status.prefix(40).debugDescription) is no status")
    }
    return words[2]
  }

  private func names(_ fields: Field...) throws(Problem) -> [String] {
    var names: [String] = []
    for field in fields {
      guard let value = self[field] else { continue }
      switch DependencyField.names(in: value) {
      case .success(let found): names += names.isEmpty ? found : found.filter { !names.contains($0) }
      case .failure(let item):
        throw problem(
          field, "\(field.name) names \(item.text.prefix(40).debugDescription), which is no package")
      }
    }
    return names
  }

  private func problem(_ field: Field, _ reason: String) -> Problem {
    Problem(line: valueLines[field.rawValue], reason: reason)
  }
}
