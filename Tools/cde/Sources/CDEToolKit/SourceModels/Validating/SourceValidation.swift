import CDEModelClasses
import Foundation

/// Compares a model, its configuration and Swift sources.
public struct SourceValidation {
  let model: LoadedModel
  let modelPath: String
  let configuration: SourceConfiguration
  /// The folder of the sources.
  let folder: URL
  let mode: ValidationMode

  /// The form of the answer.
  public enum Report: String, CaseIterable, Sendable {
    case text, json, sarif
  }

  /// What is done about findings.
  public enum Fixing: Sendable {
    case none, preview, write
  }

  /// - Parameters:
  ///   - folder: the folder of the sources; that of the configuration by default.
  ///   - mode: the mode; that of the configuration by default, and conformance without one.
  public init(
    _ model: LoadedModel, path: String, _ configuration: SourceConfiguration, folder: URL? = nil,
    mode: ValidationMode? = nil
  ) throws {
    self.model = model
    modelPath = path
    self.configuration = configuration
    self.mode = mode ?? configuration.validate.mode ?? .conformance
    let section = configuration.effectiveValidation
    let given =
      self.mode == .exact ? configuration.generate.outputDir ?? section.sourceDir : section.sourceDir
    guard let found = folder ?? given.map({ configuration.url($0) }) else {
      throw ToolError(
        "No folder of sources is named. Name it by --sources, or by “sourceDir” of the configuration.", .usage
      )
    }
    self.folder = found
  }

  /// The answer of `cde model validate` with sources.
  ///
  /// - Throws: ``ToolError`` if a file can't be read or written, or the program that reads sources is missing.
  public func answer(report: Report = .text, fixing: Fixing = .none) throws -> Answer {
    if mode == .exact {
      guard fixing == .none else {
        throw ToolError(
          "--fix goes with the mode conformance. `cde model generate` brings managed files up to date.",
          .usage)
      }
      return FindingReport(try exactFindings(), mode: mode).answer(report)
    }
    let tree = try tree()
    let found = findings(tree)
    guard fixing != .none else { return FindingReport(found, mode: mode).answer(report) }
    let edits = SourceEdits(found, tree)
    if fixing == .preview {
      return FindingReport(found, mode: mode, preview: edits.preview(tree)).answer(report)
    }
    try edits.write(tree)
    let rest = edits.byFile.isEmpty ? found : findings(try self.tree())
    let fixed = edits.byFile.values.reduce(0) { $0 + $1.count }
    return FindingReport(rest, mode: mode, fixed: fixed).answer(report)
  }

  func tree() throws -> SourceTree { try SourceTree(folder) { try SourceFactsProgram() } }

  func findings(_ tree: SourceTree) -> [SourceFinding] {
    let section = configuration.effectiveValidation
    let resolved = ModelResolver.resolve(
      model.model, named: model.sourceName, section, configuration.proposals)
    let rules = resolved.problems.map { problem -> SourceFinding in
      let isOwn =
        !configuration.validate.attributeRules.isEmpty || configuration.generate.attributeRules.isEmpty
      let place = ConfigurationPlaces.place(
        of: problem.place, sections: isOwn ? ["validate", "generate"] : ["generate"], configuration.file)
      return SourceFinding(
        file: place?.file ?? modelPath, line: place?.line ?? 1, column: place?.column ?? 1, rule: .rules,
        subject: problem.place, message: problem.text, remedy: "")
    }
    return rules + ModelConformance.findings(resolved, tree, modelPath: modelPath)
  }

  func exactFindings() throws -> [SourceFinding] {
    try ExactComparison(
      sources: SourceGeneration(model, configuration).sources(), folder: folder
    ).findings()
  }
}

/// Makes the sources of a model as a configuration says.
public struct SourceGeneration {
  let model: LoadedModel
  var configuration: SourceConfiguration

  public init(_ model: LoadedModel, _ configuration: SourceConfiguration) {
    self.model = model
    self.configuration = configuration
  }

  /// - Throws: ``ToolError`` for rules that contradict the model, and names that are none in Swift.
  public func sources() throws -> GeneratedSources {
    let section = configuration.generate
    let options = GeneratedSources.Options(
      layout: section.singleFile == true || section.splitByEntity == false ? .singleFile : .splitByEntity,
      header: try header(), generatesInit: section.generateInit ?? false,
      emitsStubs: section.emitExtensionStubs ?? false)
    do {
      if section.kind == .swiftData {
        let stored = try model.isStore ? StoredValues(of: model.url, with: model.model) : StoredValues()
        return try GeneratedSources(swiftData: model.model, stored, named: model.sourceName, options)
      }
      return try GeneratedSources(resolved(), options)
    } catch { throw ToolError(error) }
  }

  /// The model with the names, types and storage of the rules.
  public func resolved() -> ResolvedModel {
    ModelResolver.resolve(
      model.model, named: model.sourceName, configuration.generate, configuration.proposals)
  }

  /// The text above generated code: that of a file, or the text itself if it begins as a comment.
  private func header() throws -> String {
    guard let template = configuration.generate.headerTemplate else { return "" }
    var text = template
    if !template.hasPrefix("//") {
      let url = configuration.url(template)
      guard let known = try Generation.text(at: url) else {
        throw ToolError(
          "The header template \(url.path) does not exist. Correct “headerTemplate”, or begin the text itself with //."
        )
      }
      text = known
    }
    text = text.replacing("{{model}}", with: model.sourceName)
      .replacing("{{module}}", with: configuration.generate.moduleName ?? "")
    // What is no comment would be code.
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let line = line.filter { $0 != "\r" }
      return line.allSatisfy(\.isWhitespace) || line.hasPrefix("//") ? String(line) : "// \(line)"
    }.joined(separator: "\n").trimmingCharacters(in: .newlines) + "\n"
  }
}

extension LoadedModel {
  /// The name of the model, as its files have it.
  var sourceName: String {
    let folder = url.deletingLastPathComponent()
    let isVersion = ["xcdatamodeld", "momd"].contains(folder.pathExtension)
    return (isVersion ? folder : url).deletingPathExtension().lastPathComponent
  }
}
