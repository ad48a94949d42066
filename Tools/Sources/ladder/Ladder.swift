import Foundation

/// The order of a module's folders, as the README of its package has it.
///
/// A section "## Folders of `Module`" has three tables, known by their heads: the folders, the exceptions and the limits.
struct Ladder {
  /// A symbol that a file may use although a higher folder declares it.
  struct Exception: Hashable {
    let file: String
    let symbol: String
  }

  /// The figures that a module must keep.
  enum Measure: String, CaseIterable {
    case upward = "references upward"
    case circleOfTypes = "files in a circle by types"
    case circle = "files in a circle by all symbols"
    case remainingCircle = "files in such a circle without the exceptions"
    case folder = "files in a folder"
  }

  let module: String
  let readme: String
  private(set) var folders: [String] = []
  /// The lines of the exceptions.
  private(set) var exceptions: [Exception: Int] = [:]
  private(set) var limits: [Measure: Int] = [:]

  /// The ladders of a README, one for each section.
  static func all(in text: String, of readme: String) throws -> [Ladder] {
    var ladders: [Ladder] = []
    var isInside = false
    var head: String?
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.hasPrefix("## ") {
        isInside = line.hasPrefix("## Folders of `")
        if isInside, let module = line.split(separator: "`").dropFirst().first {
          ladders.append(Ladder(module: String(module), readme: readme))
        }
      }
      guard line.hasPrefix("|"), isInside, !ladders.isEmpty else {
        head = nil
        continue
      }
      let cells = line.split(separator: "|").map {
        $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "")
      }
      if head == nil {
        head = cells.joined(separator: " | ")
      } else if !line.hasPrefix("|-") {
        try ladders[ladders.count - 1].read(cells, under: head!, line: index + 1)
      }
    }
    return ladders
  }

  private mutating func read(_ cells: [String], under head: String, line: Int) throws {
    if head.hasPrefix("folder, lowest first") {
      folders.append(cells[0])
    } else if head == "file | names | because" {
      for symbol in cells[1].split(separator: ", ") {
        exceptions[Exception(file: cells[0], symbol: String(symbol))] = line
      }
    } else if head == "measure | at most" {
      guard let measure = Measure(rawValue: cells[0]), cells.count == 2, let most = Int(cells[1]) else {
        let known = Measure.allCases.map(\.rawValue).joined(separator: "\", \"")
        throw LadderError("\(readme):\(line): a limit is a number, and its measure is one of \"\(known)\".")
      }
      limits[measure] = most
    }
  }

  /// The place of a file's folder in the order. The folder is the longest one of the table that the file is in.
  func rank(of file: String) -> Int? {
    var folder = Ladder.folder(of: file)
    while true {
      if let rank = folders.firstIndex(of: folder.isEmpty ? "(none)" : folder) { return rank }
      if folder.isEmpty { return nil }
      folder = Ladder.folder(of: folder)
    }
  }

  /// The folder of a path; empty for a path without one.
  static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
  }
}
