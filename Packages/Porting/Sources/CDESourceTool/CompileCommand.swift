internal import CDEModelFiles
internal import Foundation

/// Compiles a model or a mapping model.
public struct CompileCommand {
  private let source: URL
  private let output: URL
  /// Where the models of a mapping model are looked for.
  private var models: [URL] = []

  /// Reads the paths and options.
  public init(_ arguments: [String], usage: String) throws {
    var paths: [URL] = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--model" {
        guard let model = rest.popFirst() else { throw Problem("--model lacks a value.\n\(usage)") }
        models.append(URL(fileURLWithPath: model))
      } else {
        paths.append(URL(fileURLWithPath: argument))
      }
    }
    guard paths.count == 2 else { throw Problem("compile takes a model and an output.\n\(usage)") }
    source = paths[0]
    output = paths[1]
    guard models.isEmpty || source.pathExtension == "xcmappingmodel" else {
      throw Problem(
        "--model is for mapping models, and \(source.lastPathComponent) is none.\n\(usage)")
    }
  }

  /// Writes the compiled model.
  public func run() throws {
    try reportingPlaces(of: source) { () throws(ModelFileError) in
      try ModelCompiler.compile(source, to: output, models: models)
      for warning in try ModelCompiler.warnings(about: source) {
        print("\(warning.file):\(warning.line): warning: \(warning.text)")
      }
    }
  }
}

/// The classes that Xcode generates for a model.
enum GeneratedClasses {
  /// One source for all of them; a comment if the model asks for none.
  static func text(of model: URL) throws -> String {
    let files = try reportingPlaces(of: model) { () throws(ModelFileError) in
      try ClassGenerator(ModelSource(contentsOf: model)).files()
    }
    if files.isEmpty { return "// \(model.lastPathComponent) asks for no classes.\n" }
    // The classes are public. In a target whose imports are internal by default, the import has to be public as well; it brings
    // Foundation along.
    return files.map(\.text).joined(separator: "\n")
      .replacing("import Foundation\nimport CoreData\n", with: "public import CoreData\n")
  }
}

/// Prints an error of a model in the form that build tools link to the place.
private func reportingPlaces<Value>(
  of source: URL, _ body: () throws(ModelFileError) -> Value
) throws(Problem) -> Value {
  do { return try body() } catch {
    let place = error.file + (error.line.map { ":\($0)" } ?? "")
    let text =
      error.message.hasPrefix("\(place): ") ? String(error.message.dropFirst(place.count + 2)) : error.message
    print("\(place.isEmpty ? source.path : place): error: \(text)")
    throw Problem("The model \(source.lastPathComponent) can't be used; see the message above.")
  }
}
