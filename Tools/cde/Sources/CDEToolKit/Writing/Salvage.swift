import CDEManagedModel
import CDEModelRuntime
import CDEStore
import Foundation

/// The answer of `cde store salvage`: copies what can be read of a damaged file into a new store.
public enum Salvage {
  public static func answer(_ url: URL, to destination: URL, model: NSManagedObjectModel? = nil) throws
    -> Answer
  {
    try StorePlace.file(url).check()
    let report: SalvageReport
    do {
      report = try NSPersistentStoreCoordinator.salvagePersistentStore(at: url, to: destination, model: model)
    } catch { throw ToolError(error) }
    let tables = Table(
      title: "Copied to \(destination.path)",
      [.init("table"), .init("rows", isNumber: true), .init("doubtful", isNumber: true)],
      rows: report.tables.map { [Cell($0.name), Cell($0.rows), Cell($0.doubtfulKeys.count)] })
    let damages = Table(
      title: "Damaged pages", [.init("page", isNumber: true), .init("table"), .init("reason")],
      rows: report.damages.map { [Cell($0.page), $0.table.map { Cell($0) } ?? .none, Cell($0.reason)] })
    let losses = Table(
      title: "Not copied", [.init("table"), .init("key", isNumber: true), .init("column"), .init("reason")],
      rows: report.losses.map {
        [Cell($0.table), Cell(Int($0.key)), $0.column.map { Cell($0) } ?? .none, Cell($0.reason)]
      })
    var blocks = [Answer.Block.table(tables)]
    if !damages.rows.isEmpty { blocks.append(.table(damages)) }
    if !losses.rows.isEmpty { blocks.append(.table(losses)) }
    let removed = report.removedReferences.sorted { $0.key < $1.key }
    for (place, count) in removed {
      blocks.append(.text("\(count) references to lost rows were removed from \(place)."))
    }
    for note in report.notes { blocks.append(.text(note)) }
    return Answer(
      blocks,
      json: .object([
        .init("destination", .string(destination.path)), .init("tables", tables.json),
        .init("damages", damages.json),
        .init("losses", losses.json),
        .init("removedReferences", .object(removed.map { .init($0.key, .int($0.value)) })),
        .init("notes", .array(report.notes.map { .string($0) })),
      ]),
      hasFindings: !report.damages.isEmpty || !report.losses.isEmpty || !removed.isEmpty
        || report.tables.allSatisfy { $0.rows == 0 })
  }
}
