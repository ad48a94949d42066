import Foundation

/// Compares the managed files of a folder with what would be generated.
struct ExactComparison {
  let sources: GeneratedSources
  let folder: URL

  func findings() throws -> [SourceFinding] {
    var result: [SourceFinding] = []
    let expected = Set(sources.files.map(\.name))
    for file in sources.files {
      let url = folder.appendingPathComponent(file.name)
      func add(_ rule: SourceFinding.Rule, line: Int = 1, _ message: String, _ remedy: String) {
        result.append(
          SourceFinding(
            file: url.path, line: line, column: 1, rule: rule, subject: file.name, message: message,
            remedy: remedy))
      }
      guard let text = try Generation.text(at: url) else {
        add(.missingFile, "\(file.name) is missing.", "`cde model generate` writes it.")
        continue
      }
      guard let mark = ManagedFile(text), mark.model == sources.modelName else {
        add(
          .missingFile,
          "\(file.name) is in the place of a generated file, and was not generated for this model.",
          "Move it away, and run `cde model generate`.")
        continue
      }
      if ManagedFile.isSame(text, file.text) { continue }
      let line = Self.firstDifference(text, file.text)
      if mark.isUntouched {
        add(
          .staleFile, line: line, "\(file.name) is older than the model or its configuration.",
          "Run `cde model generate`.")
      } else {
        add(
          .editedFile, line: line, "\(file.name) was edited by hand.",
          "Move the change to an extension, the model or the configuration, and run `cde model generate`.")
      }
    }
    for (name, mark) in try Generation.managedFiles(in: folder, of: sources.modelName)
    where !expected.contains(name) {
      result.append(
        SourceFinding(
          file: folder.appendingPathComponent(name).path, line: 1, column: 1, rule: .leftoverFile,
          subject: name,
          message: "\(name) is not made any more\(mark.isUntouched ? "" : ", and was edited by hand").",
          remedy: mark.isUntouched ? "`cde model generate` removes it." : "Remove it."))
    }
    return result.sorted { $0.file < $1.file }
  }

  /// The line of the first text, below its mark, at which the second one differs.
  private static func firstDifference(_ one: String, _ other: String) -> Int {
    func lines(_ text: String) -> [Substring] {
      text.split(separator: "\n", omittingEmptySubsequences: false)
    }
    let (mine, theirs) = (lines(one), lines(other))
    for index in mine.indices {
      if mine[index].contains("cde-managed: ") { continue }
      if index >= theirs.count || mine[index] != theirs[index] { return index + 1 }
    }
    return max(1, mine.count)
  }
}
