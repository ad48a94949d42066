import CDEDiagrams
import CDEManagedModel
import CDEModelClasses
import Foundation

/// The files that a model and its configuration make.
public struct GeneratedSources: Sendable {
  /// A file of the output folder.
  public struct File: Sendable, Hashable {
    public var name: String
    public var text: String
  }

  /// The files that are managed.
  public let files: [File]
  /// The files for code of one's own, which are written once.
  public let stubs: [File]
  /// What the classes do not express.
  public let remarks: [String]
  /// Whether a model made of the classes has the version of this one; nil where only the compiled classes show it.
  public let keepsVersion: Bool?
  public let modelName: String
  /// Everything as one text without a mark, for a pipe.
  public let text: String

  /// Which files there are.
  public enum Layout: Sendable {
    case singleFile, splitByEntity
  }

  struct Options: Sendable {
    var layout = Layout.splitByEntity
    var header = ""
    var generatesInit = false
    var emitsStubs = false
  }

  /// Writes `@PersistentModel` classes.
  ///
  /// - Throws: ``ToolError`` for rules that contradict the model.
  init(_ model: ResolvedModel, _ options: Options) throws {
    if let problem = model.problems.first {
      throw ToolError(problem.place.isEmpty ? problem.text : "“\(problem.place)”: \(problem.text)")
    }
    let writer = ClassWriter(model: model, generatesInit: options.generatesInit)
    let imports = "import CoreDataEvolution\nimport Foundation\n"
    let parts = model.entities.map { (name: $0.className, text: writer.declarations(of: $0)) }
    files = Self.files(parts, imports, model.name, options)
    text = options.header + imports + parts.map { "\n" + $0.text }.joined()
    stubs =
      options.emitsStubs
      ? model.entities.map { entity in
        let name = SwiftNaming.escaped(entity.className)
        let text = "\(options.header)import CoreDataEvolution\nimport Foundation\n\nextension \(name) {}\n"
        return File(name: "\(entity.className)+Extensions.swift", text: text)
      } : []
    remarks = model.remarks.map(\.sentence)
    keepsVersion = model.keepsVersion
    modelName = model.name
  }

  /// Writes `@Model` classes: the text of `coredata-sources generate-swiftdata`.
  init(swiftData model: NSManagedObjectModel, _ stored: StoredValues, named name: String, _ options: Options)
    throws
  {
    var generator = SwiftDataGenerator(model, stored)
    let source = try generator.source()
    text = options.header + source
    let imports = "import CDESwiftData\nimport Foundation\n"
    // Each declaration begins after an empty line with `@Model`, or with the remark of an abstract entity before it.
    let parts = Self.classes(source.dropFirst(imports.count), model)
    files = Self.files(parts, imports, name, options)
    stubs =
      options.emitsStubs
      ? parts.map { part in
        let text = "\(options.header)\(imports)\nextension \(SwiftNaming.escaped(part.name)) {}\n"
        return File(name: "\(part.name)+Extensions.swift", text: text)
      } : []
    remarks = generator.remarks
    // Some remarks are of what no version has, such as an index.
    keepsVersion = generator.remarks.isEmpty ? true : nil
    modelName = name
  }

  private static func files(
    _ parts: [(name: String, text: String)], _ imports: String, _ model: String, _ options: Options
  ) -> [File] {
    switch options.layout {
    case .singleFile:
      let body = imports + parts.map { "\n" + $0.text }.joined()
      return [
        File(
          name: "\(model)Models.swift",
          text: ManagedFile.marked(body, header: options.header, model: model))
      ]
    case .splitByEntity:
      return parts.map { part in
        File(
          name: "\(part.name).swift",
          text: ManagedFile.marked("\(imports)\n\(part.text)", header: options.header, model: model))
      }
    }
  }

  /// The declarations of the classes of a text, by the entities in their order.
  private static func classes(
    _ text: Substring, _ model: NSManagedObjectModel
  ) -> [(name: String, text: String)] {
    var parts: [[Substring]] = []
    var lines: [Substring] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      lines.append(line)
      if line == "}" {
        parts.append(lines)
        lines = []
      }
    }
    return zip(model.sortedEntities.compactMap(\.name), parts).map { name, lines in
      (name, lines.drop { $0.isEmpty }.joined(separator: "\n") + "\n")
    }
  }
}
