import CDEManagedModel
import CDEModelClasses
import CDEModelFiles
import CDEModelRuntime
import CDESourceTool
import Foundation

/// Prints `@Model` classes for a store or a model.
struct GenerateCommand {
  let source: URL

  /// The source of the classes, and what they do not express.
  func classes() throws -> (text: String, remarks: [String]) {
    guard FileManager.default.fileExists(atPath: source.path) else {
      throw Problem("There is no file \(source.path).")
    }
    let isModel = ["xcdatamodeld", "xcdatamodel", "momd", "mom"].contains(source.pathExtension)
    let model =
      isModel
      ? try NSManagedObjectModel(modelFile: source) : try NSManagedObjectModel(cachedInStoreAt: source)
    var generator = SwiftDataGenerator(
      model, try isModel ? StoredValues() : StoredValues(of: source, with: model))
    do {
      let text = try generator.source()
      return (text, generator.remarks)
    } catch let error as ModelClassError { throw Problem(error.message) }
  }

  func run() throws {
    let (text, remarks) = try classes()
    print(text, terminator: "")
    for remark in remarks { FileHandle.standardError.write(Data("remark: \(remark)\n".utf8)) }
  }
}
