@_spi(CDE) internal import CDEStore
internal import Foundation

/// An order of results of several stores, by values as the stores compare them.
///
/// SQLite's order: nil, then numbers, then texts by their bytes, then data. Equal results keep their order.
struct RowOrder {
  private let sort: [StoreSort]
  private var keys: [StoreValue] = []
  private var count = 0
  /// The names of properties of rows. Entities that inherit them may have other slots.
  private var names: [String] = []
  private var slots: [EntityIndex: [SlotIndex]] = [:]

  init(_ sort: [StoreSort]) { self.sort = sort }

  /// An order of rows, which ``reads(_:)`` has found to be one of their own values.
  init(_ query: StoreQuery, _ schema: ResolvedSchema) {
    sort = query.sort
    let properties = schema.entities[query.entity].layout.properties
    names = sort.map { term in
      guard case .path(let path) = term.expression, case .property(let slot, _) = path.end else { return "" }
      return properties[slot].name
    }
  }

  /// Whether the order is one of values in the rows themselves.
  static func reads(_ query: StoreQuery) -> Bool {
    query.sort.allSatisfy { term in
      guard case .path(let path) = term.expression, path.scope == 0, path.hops.isEmpty,
        case .property = path.end
      else { return false }
      return true
    }
  }

  mutating func append(_ batch: RowBatch, _ row: Int) {
    let layout = batch.layout
    let slots =
      slots[layout.entity] ?? names.map { layout.slot(named: $0) ?? SlotIndex(0) }
    self.slots[layout.entity] = slots
    append(
      zip(sort, slots).map { term, slot in
        guard case .path(let path) = term.expression, case .property(_, let leaf) = path.end else {
          return .null
        }
        return batch.sortValue(row, slot, leaf)
      })
  }

  /// Adds a result by the values of the order's expressions.
  mutating func append(_ values: [StoreValue]) {
    count += 1
    keys += zip(values, sort).map { ValueOrder.sortKey($0, $1.options) }
  }

  /// The places of the results in the order.
  var sorted: [Int] {
    let width = sort.count
    func keys(_ place: Int) -> ArraySlice<StoreValue> { self.keys[place * width..<(place + 1) * width] }
    return (0..<count).sorted { left, right in
      let order = ValueOrder.order(keys(left), keys(right), in: sort)
      return order == 0 ? left < right : order < 0
    }
  }
}

extension RowBatch {
  /// The value of an attribute as the store sorts it.
  fileprivate func sortValue(_ row: Int, _ slot: SlotIndex, _ leaf: Int) -> StoreValue {
    let cells = layout.properties[slot].cells
    let cell = cells.lowerBound + leaf
    guard cells.contains(cell), !isNull(row, cell) else { return .null }
    switch layout.cells[cell].kind {
    case .integer: return .integer(integer(row, cell) ?? 0)
    case .real: return real(row, cell).map { $0.isNaN ? .null : .real($0) } ?? .null
    case .blob: return .blob(Data(bytes(row, cell)))
    case .text:
      let text = string(row, cell) ?? ""
      guard layout.cells[cell].type == .decimal else { return .text(text) }
      // The column has numbers.
      return Int64(text).map { .integer($0) } ?? Double(text).map { .real($0) } ?? .text(text)
    }
  }
}
