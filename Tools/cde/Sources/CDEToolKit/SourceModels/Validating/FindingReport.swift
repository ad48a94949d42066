import Foundation

/// Turns findings into an answer.
struct FindingReport {
  let findings: [SourceFinding]
  let mode: ValidationMode
  /// The number of edits that were written.
  var fixed: Int?
  /// The lines that `--fix` would change.
  var preview: [(file: String, line: Int, old: String, new: String)]?

  init(
    _ findings: [SourceFinding], mode: ValidationMode, fixed: Int? = nil,
    preview: [(file: String, line: Int, old: String, new: String)]? = nil
  ) {
    self.findings = findings
    self.mode = mode
    self.fixed = fixed
    self.preview = preview
  }

  func answer(_ report: SourceValidation.Report) -> Answer {
    switch report {
    case .text: Answer([.text(text)], json: json, hasFindings: !findings.isEmpty)
    case .json: Answer([.text(json.text())], json: json, hasFindings: !findings.isEmpty)
    case .sarif: Answer([.text(sarif.text())], json: sarif, hasFindings: !findings.isEmpty)
    }
  }

  // MARK: Forms

  private var text: String {
    var lines = findings.map { finding in
      let end = finding.remedy.isEmpty ? "" : " \(finding.remedy)"
      return
        "\(Self.shown(finding.file)):\(finding.line):\(finding.column): error: \(finding.message)\(end) [\(finding.rule.rawValue)]"
    }
    if let fixed {
      lines.append(fixed == 0 ? "Nothing was fixed." : "Fixed: \(Self.counted(fixed, "edit")).")
    }
    for edit in preview ?? [] {
      lines += ["\(Self.shown(edit.file)):\(edit.line):", "- \(edit.old)", "+ \(edit.new)"]
    }
    if preview != nil { lines.append("Nothing was written.") }
    let fixable = findings.count(where: \.isFixable)
    if findings.isEmpty {
      lines.append(
        mode == .exact ? "The managed files are what would be generated." : "Model, rules and sources agree.")
    } else {
      let help = fixable > 0 && preview == nil ? ", \(fixable) of which --fix puts right" : ""
      lines.append("\(Self.counted(findings.count, "finding"))\(help).")
    }
    return lines.joined(separator: "\n")
  }

  private static func counted(_ count: Int, _ word: String) -> String {
    "\(count) \(word)\(count == 1 ? "" : "s")"
  }

  private var json: JSONValue {
    var members: [JSONValue.Member] = [
      .init("mode", .string(mode.rawValue)),
      .init(
        "findings",
        .array(
          findings.map { finding in
            .object([
              .init("file", .string(Self.shown(finding.file))), .init("line", .int(finding.line)),
              .init("column", .int(finding.column)), .init("rule", .string(finding.rule.rawValue)),
              .init("subject", .string(finding.subject)), .init("message", .string(finding.message)),
              .init("remedy", .string(finding.remedy)), .init("fixable", .bool(finding.isFixable)),
            ])
          })),
    ]
    if let fixed { members.append(.init("fixed", .int(fixed))) }
    if let preview {
      members.append(
        .init(
          "edits",
          .array(
            preview.map { edit in
              .object([
                .init("file", .string(Self.shown(edit.file))), .init("line", .int(edit.line)),
                .init("old", .string(edit.old)), .init("new", .string(edit.new)),
              ])
            })))
    }
    return .object(members)
  }

  /// The format of static analysers, version 2.1.0.
  private var sarif: JSONValue {
    let used = SourceFinding.Rule.allCases.filter { rule in findings.contains { $0.rule == rule } }
    let rules = used.map { rule in
      JSONValue.object([
        .init("id", .string(rule.rawValue)),
        .init("shortDescription", .object([.init("text", .string(rule.title))])),
      ])
    }
    let results = findings.map { finding in
      let region = JSONValue.object([
        .init("startLine", .int(finding.line)), .init("startColumn", .int(finding.column)),
      ])
      let location = JSONValue.object([
        .init("artifactLocation", .object([.init("uri", .string(Self.uri(finding.file)))])),
        .init("region", region),
      ])
      let message = finding.remedy.isEmpty ? finding.message : "\(finding.message) \(finding.remedy)"
      return JSONValue.object([
        .init("ruleId", .string(finding.rule.rawValue)), .init("level", .string("error")),
        .init("message", .object([.init("text", .string(message))])),
        .init("locations", .array([.object([.init("physicalLocation", location)])])),
      ])
    }
    let driver = JSONValue.object([
      .init("name", .string("cde")), .init("rules", .array(rules)),
    ])
    return .object([
      .init("$schema", .string("https://json.schemastore.org/sarif-2.1.0.json")),
      .init("version", .string("2.1.0")),
      .init(
        "runs",
        .array([
          .object([
            .init("tool", .object([.init("driver", driver)])),
            .init("results", .array(results)),
          ])
        ])),
    ])
  }

  /// The path from the current folder, if the file is below it.
  static func shown(_ path: String) -> String {
    let folder = FileManager.default.currentDirectoryPath + "/"
    let full = URL(fileURLWithPath: path).standardizedFileURL.path
    return full.hasPrefix(folder) ? String(full.dropFirst(folder.count)) : full
  }

  private static func uri(_ path: String) -> String {
    let shown = shown(path)
    return shown.hasPrefix("/")
      ? URL(fileURLWithPath: shown).absoluteString
      : shown.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? shown
  }
}
