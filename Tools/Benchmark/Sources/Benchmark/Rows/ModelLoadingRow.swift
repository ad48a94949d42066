import CDEModelFiles
import CoreDataEvolution
import Foundation

/// Row load-model: what the start of a program spends on its compiled model.
@MainActor
struct ModelLoadingRow {
  let workspace: Workspace

  /// A compiled model, from the file to its descriptions.
  func contenders() throws -> [Contender] {
    let source = workspace.folder.appendingPathComponent("Large.xcdatamodel")
    try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
    let count = workspace.isSmoke ? 4 : 200
    try Data(Self.model(entities: count).utf8).write(to: source.appendingPathComponent("contents"))
    let compiled = workspace.folder.appendingPathComponent("Large.mom")
    try ModelCompiler.compile(source, to: compiled)
    return [
      Contender(.ours) {
        var model: NSManagedObjectModel?
        let time = nanoseconds { model = NSManagedObjectModel(contentsOf: compiled) }
        precondition(model?.entities.count == count, "The compiled model was not read.")
        return time / 1e6
      }
    ]
  }

  /// Entities with ten attributes and two relationships each, as in large published models.
  private static func model(entities count: Int) -> String {
    let types = ["String", "Integer 64", "Date", "Boolean", "Double"]
    let entities = (0..<count).map { number in
      let attributes = (0..<10).map {
        "<attribute name=\"value\($0)\" optional=\"YES\" attributeType=\"\(types[$0 % types.count])\"/>"
      }
      let next = (number + 1) % count
      let previous = (number + count - 1) % count
      return """
        <entity name="Entity\(number)" representedClassName="Entity\(number)">
        \(attributes.joined(separator: "\n"))
        <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Entity\(next)" \
        inverseName="previous" inverseEntity="Entity\(next)"/>
        <relationship name="previous" optional="YES" toMany="YES" deletionRule="Nullify" \
        destinationEntity="Entity\(previous)" inverseName="next" inverseEntity="Entity\(previous)"/>
        </entity>
        """
    }
    return "<model userDefinedModelVersionIdentifier=\"\">\(entities.joined(separator: "\n"))</model>"
  }
}
