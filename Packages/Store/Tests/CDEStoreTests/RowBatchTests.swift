@_spi(CDE) import CDEStore
import Testing

@Suite("Row batches")
struct RowBatchTests {
  func schema(attributes: Int) throws -> ResolvedSchema {
    try ResolvedSchema(
      StoreSchema(entities: [
        StoreEntity(
          name: "A",
          attributes: (0..<attributes).map {
            StoreAttribute(name: "p\(1000 + $0)", type: [.integer64, .double, .string, .binary][$0 % 4])
          },
          relationships: [StoreRelationship(name: "z", destination: "A", inverse: nil, isToMany: false)])
      ]))
  }

  @Test("Cells keep what was set; what was not set is null", arguments: [3, 64, 150])
  func cells(attributes: Int) throws {
    let layout = try schema(attributes: attributes).entities[0].layout
    var builder = RowBatchBuilder(layout: layout, rows: 1, arenaBytes: 1)
    for row in 0..<40 {
      builder.beginRow(key: Int64(row), version: 7)
      for cell in layout.cells.indices.prefix(attributes) where (cell.rawValue + row) % 3 != 0 {
        switch layout.cells[cell].kind {
        case .integer: builder.setInteger(cell, Int64(row * cell.rawValue))
        case .real: builder.setReal(cell, Double(row) / 4)
        case .text: builder.setString(cell, String(repeating: "é", count: row))
        case .blob: [UInt8(row), 0].withUnsafeBytes { builder.setBytes(cell, $0) }
        }
      }
    }
    let batch = builder.finish()
    #expect(batch.count == 40)
    for row in 0..<40 {
      #expect(batch.key(row) == Int64(row) && batch.version(row) == 7)
      for cell in layout.cells.indices.prefix(attributes) {
        let isSet = (cell.rawValue + row) % 3 != 0
        #expect(batch.isNull(row, cell) == !isSet)
        guard isSet else {
          #expect(batch.bytes(row, cell).isEmpty)
          continue
        }
        switch layout.cells[cell].kind {
        case .integer: #expect(batch.integer(row, cell) == Int64(row * cell.rawValue))
        case .real: #expect(batch.real(row, cell) == Double(row) / 4)
        case .text: #expect(batch.string(row, cell) == String(repeating: "é", count: row))
        case .blob: #expect(batch.bytes(row, cell).elementsEqual([UInt8(row), 0]))
        }
      }
    }
    var copies = RowBatchBuilder(layout: layout)
    copies.beginRow(copying: batch, 11, key: 99, version: 8)
    let copy = copies.finish()
    #expect(copy.key(0) == 99 && copy.sameValues(0, as: batch, 11, cells: layout.cells.indices))
    #expect(!copy.sameValues(0, as: batch, 12, cells: layout.cells.indices))
  }

  @Test("Pending keys become permanent in rows and references, once")
  func keys() throws {
    let schema = try schema(attributes: 1)
    let layout = schema.entities[0].layout
    var builder = RowBatchBuilder(layout: layout)
    for row in 1...3 {
      builder.beginRow(key: Int64(row == 3 ? 5 : -row), version: 1)
      builder.setInteger(1, Int64(row == 3 ? 4 : -3 + row))
    }
    let batch = builder.finish()
    for _ in 0..<2 { batch.assignKeys(base: [10], schema: schema) }
    #expect((0..<3).map { batch.key($0) } == [11, 12, 5])
    #expect((0..<3).map { batch.integer($0, 1) } == [12, 11, 4])
  }

  @Test("Schemas that contradict themselves name entity and property")
  func invalid() {
    func error(_ entities: [StoreEntity]) -> StoreError? {
      do {
        _ = try ResolvedSchema(StoreSchema(entities: entities))
        return nil
      } catch { return error }
    }
    #expect(error([StoreEntity(name: "A"), StoreEntity(name: "A")])?.entity == "A")
    #expect(error([StoreEntity(name: "A", parent: "B")])?.entity == "A")
    #expect(error([StoreEntity(name: "A", parent: "B"), StoreEntity(name: "B", parent: "A")]) != nil)
    let dangling = error([
      StoreEntity(
        name: "A",
        relationships: [StoreRelationship(name: "b", destination: "B", inverse: nil, isToMany: true)])
    ])
    #expect(dangling?.code == .invalidSchema && dangling?.properties == ["b"])
    let inverse = error([
      StoreEntity(
        name: "A",
        relationships: [StoreRelationship(name: "b", destination: "A", inverse: "c", isToMany: true)])
    ])
    #expect(inverse?.properties == ["b"])
  }

  @Test("Entities are numbered depth first, siblings without regard to case")
  func numbering() throws {
    let names =
      [("b", nil), ("A", nil), ("C", "b"), ("a2", "b"), ("B2", nil), ("x", "C")] as [(String, String?)]
    let schema = try ResolvedSchema(
      StoreSchema(entities: names.map { StoreEntity(name: $0.0, parent: $0.1) }))
    #expect(schema.entities.map(\.source.name) == ["A", "b", "a2", "C", "x", "B2"])
    #expect(schema.entities.map(\.subtree) == [0..<1, 1..<5, 2..<3, 3..<5, 4..<5, 5..<6])
    #expect(schema.entities.map(\.root) == [0, 1, 1, 1, 1, 5])
  }
}
