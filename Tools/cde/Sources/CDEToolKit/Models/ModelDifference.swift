import CDEManagedModel
@_spi(CDE) import CDEModelFiles
import CDEModelRuntime
import CDEStore
import Foundation

/// What becomes of a store when its model changes.
public struct ModelDifference {
  let old: LoadedModel
  let new: LoadedModel

  public init(_ old: LoadedModel, _ new: LoadedModel) {
    self.old = old
    self.new = new
  }

  /// The answer of `cde model diff`. If the old model is that of a store, it says how many objects are touched.
  ///
  /// - Parameter allowsInference: whether changes that are inferred without a loss are no findings.
  public func answer(allowsInference: Bool = false) throws -> Answer {
    let changes: [ModelChange]
    do { changes = try InferredMapping(from: old.model, to: new.model).changes } catch {
      let json = JSONValue.object([.init("inferred", .bool(false)), .init("reason", .string(error.message))])
      return Answer(
        [
          .text("The change can't be inferred: \(error.message) It needs a step, a stage or a mapping model.")
        ], json: json,
        hasFindings: true)
    }
    guard !changes.isEmpty else {
      let isSame = old.model.versionChecksum == new.model.versionChecksum
      return Answer(
        [.text(isSame ? "The models have the same version." : "A store needs no migration.")],
        json: .object([.init("inferred", .bool(true)), .init("changes", .array([]))]))
    }
    let plan = try plan()
    var table = Table([
      .init("change"), .init("where"), .init("what"), .init("values"), .init("objects", isNumber: true),
    ])
    for change in changes {
      let place = change.entity + (change.property.map { ".\($0)" } ?? "")
      let what = change.description.dropFirst(place.count + 2)
      let count = plan?.rows[change.formerEntity ?? change.entity] ?? plan?.rows[change.entity]
      table.rows.append([
        Cell(change.kind.rawValue), Cell(place), Cell(String(what)),
        Cell(change.losesValues ? "lost" : "kept"), count.map { Cell($0) } ?? .none,
      ])
    }
    var blocks = [Answer.Block.table(table)]
    var members: [JSONValue.Member] = [.init("inferred", .bool(true)), .init("changes", table.json)]
    var isStopped = false
    if let plan {
      // Rounded numbers are lost as they were.
      isStopped = !plan.obstacles.isEmpty || !plan.roundings.isEmpty
      for obstacle in plan.obstacles { blocks.append(.text("Stops the migration: \(obstacle).")) }
      for rounding in plan.roundings { blocks.append(.text("Rounded: \(rounding).")) }
      blocks.append(
        .text(
          "Tables written anew: \(plan.rewrittenTables.isEmpty ? "none" : plan.rewrittenTables.joined(separator: ", ")). Space: \(plan.neededSpace) bytes."
        ))
      members += [
        .init("obstacles", .array(plan.obstacles.map { .string("\($0)") })),
        .init("roundings", .array(plan.roundings.map { .string("\($0)") })),
        .init("rewrittenTables", .array(plan.rewrittenTables.map { .string($0) })),
        .init("neededSpace", .int(plan.neededSpace)),
      ]
    }
    let loses = changes.contains(where: \.losesValues)
    return Answer(blocks, json: .object(members), hasFindings: !allowsInference || loses || isStopped)
  }

  private func plan() throws -> StoreMigrationPlan? {
    guard old.isStore else { return nil }
    let description = NSPersistentStoreDescription(url: old.url)
    description.timeout = 2
    do {
      return try NSPersistentStoreCoordinator(managedObjectModel: new.model).migrationPlan(for: description)
    } catch {
      throw ToolError(error)
    }
  }
}
