@_spi(CDE) import CDESQL
import CDEStore
import Foundation
import Testing

@Suite("Names in a database that limits them")
struct NameLimitTests {
  private func physical(_ limit: Int?) throws -> PhysicalSchema {
    let long = String(repeating: "Überlänge", count: 9)
    let schema = try ResolvedSchema(
      StoreSchema(entities: [
        StoreEntity(
          name: long + "A",
          attributes: [
            StoreAttribute(name: long + "x", type: .string), StoreAttribute(name: long + "y", type: .string),
            StoreAttribute(name: "short", type: .string),
          ]),
        StoreEntity(name: long + "B"),
      ]))
    return PhysicalSchema(
      schema, numbers: PhysicalSchema.newNumbers(of: Set(schema.entities.indices)), nameLimit: limit)
  }

  @Test("Names that differ behind the limit stay different, and short ones stay as they are")
  func shortening() throws {
    let physical = try physical(63)
    let tables = physical.tables.values.map(\.name)
    let columns = physical.tables.values.flatMap { $0.columns.map(\.name) }
    #expect(Set(tables).count == 2)
    #expect(Set(columns).count == 3)
    #expect(columns.contains("ZSHORT"))
    #expect((tables + columns).allSatisfy { $0.utf8.count <= 63 })
    #expect((tables + columns).count { $0.utf8.count > 55 } == 4)
  }

  @Test("Without a limit names have any length")
  func unlimited() throws {
    #expect(try physical(nil).tables.values.allSatisfy { $0.name.utf8.count > 80 })
  }
}
