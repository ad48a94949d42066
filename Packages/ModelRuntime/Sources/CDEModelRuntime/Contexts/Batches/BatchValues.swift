@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
@_spi(CDE) internal import CDEStore
internal import Foundation

/// Values given to batch requests. They are checked and made into rows.
enum BatchValues {
  /// New values for each concrete entity that an update may find. A value is the same for all rows, or
  /// computed.
  static func update(
    _ request: NSBatchUpdateRequest, of binding: EntityBinding, _ query: StoreQuery
  ) throws -> StoreBatchUpdate {
    var given: [String: Any] = [:]
    for (key, value) in request.propertiesToUpdate ?? [:] {
      let name = (key.base as? String) ?? (key.base as? NSPropertyDescription)?.name
      guard let name else {
        throw ManagedObjectError(
          .unsupportedRequest,
          "propertiesToUpdate has a key of type \(type(of: key.base)). Name attributes, or describe them.",
          entity: binding.name)
      }
      given[name] = value
    }
    guard !given.isEmpty else {
      throw ManagedObjectError(
        .unsupportedRequest,
        "The batch update has no propertiesToUpdate. Say which attributes get which value.",
        entity: binding.name)
    }
    // In the order of the names, so that among several mistakes the same one is always reported.
    var values: [(name: String, value: _PropertyValue)] = []
    var computed: [(name: String, expression: ExpressionTree)] = []
    for (name, given) in given.sorted(by: { $0.key < $1.key }) {
      let info = try attribute(name, of: binding)
      var value = given
      if let object = given as? TreeExpression {
        let tree = try object.expressionTree()
        // A constant is a value like others, so it is converted and validated like them.
        if case .constant(let constant) = tree {
          value = constant.plainValue ?? NSNull()
        } else {
          value = tree
        }
      }
      if let expression = value as? ExpressionTree {
        _ = try self.computed(expression, info, of: binding)
        computed.append((name, expression))
        continue
      }
      let stored = try self.value(value, info, of: binding)
      if case .null = stored, !info.isOptional { throw missing(info, of: binding) }
      values.append((name, stored))
    }
    let now = Date()
    var update = StoreBatchUpdate(query: query, values: [])
    for index in binding.model.schema.entities[binding.index].subtree {
      let concrete = binding.model.entities[index]
      var changed = PropertySet()
      var builder = RowBatchBuilder(layout: concrete.layout, rows: 1)
      builder.beginRow(key: 0, version: 0)
      for (name, value) in values {
        guard let info = concrete.property(name) else { continue }
        builder.set(value, of: info)
        changed.insert(info.slot)
      }
      for info in concrete.savedDerivations {
        guard let source = info.derivation?.sourceAttribute else {
          builder.set(.real(now.timeIntervalSinceReferenceDate), of: info)
          changed.insert(info.slot)
          continue
        }
        if computed.contains(where: { $0.name == source }) {
          throw ManagedObjectError(
            .unsupportedRequest,
            "\(concrete.name).\(info.name) is derived from \(source), so a batch can't compute that. Set it to a "
              + "value, or save objects.", entity: concrete.name, property: source)
        }
        guard let value = values.first(where: { $0.name == source })?.value else { continue }
        builder.set(info.derivation!.value(of: value), of: info)
        changed.insert(info.slot)
      }
      update.values.append(RowUpdate(batch: builder.finish(), changed: [changed]))
      update.computed.append(
        try computed.compactMap { name, expression in
          try concrete.property(name).map {
            .init(slot: $0.slot, expression: try self.computed(expression, $0, of: concrete))
          }
        })
    }
    return update
  }

  /// A value that the store computes for each row.
  private static func computed(
    _ expression: ExpressionTree, _ info: PropertyInfo, of binding: EntityBinding
  ) throws -> StoreExpression {
    func refuse(_ code: ManagedObjectError.Code, _ reason: String, _ cause: (any Error)? = nil)
      -> ManagedObjectError
    {
      ManagedObjectError(
        code, "\(binding.name).\(info.name) can't be computed in the store: \(reason)", cause: cause,
        entity: binding.name, property: info.name)
    }
    guard case .attribute(let attribute) = binding.layout.properties[info.slot].kind else {
      throw refuse(.unsupportedRequest, "it is a composite. Set it to a value.")
    }
    let kind = QueryKind(attribute)
    if case .opaque(let reason) = kind {
      throw refuse(.unsupportedRequest, "it \(reason). Set it to a value.")
    }
    do {
      let resolver = QueryResolver(schema: binding.model.schema, entity: binding.index) { _ in
        throw refuse(.unsupportedRequest, "the expression has an object in it.")
      }
      let operand = try resolver.operand(expression, QueryResolver.Scope())
      if case .constant(.null) = operand {
        if !info.isOptional { throw missing(info, of: binding) }
        return .value(.null)
      }
      let value = try resolver.single(operand, for: "propertiesToUpdate")
      guard kind.isComparable(with: value.kind), !value.isNaN else {
        throw refuse(
          .invalidValue,
          "it holds \(kind.noun), and the expression gives \(value.isNaN ? "none" : value.kind.noun).")
      }
      return value.expression
    } catch let error as PredicateTreeError {
      throw refuse(.predicate, error.message, error)
    }
  }

  /// An attribute that a batch may write.
  static func attribute(_ name: String, of binding: EntityBinding) throws -> PropertyInfo {
    func refuse(_ reason: String) -> ManagedObjectError {
      ManagedObjectError(
        .unsupportedRequest, "\(binding.name).\(name) \(reason)", entity: binding.name, property: name)
    }
    guard let info = binding.property(name) else {
      throw refuse(
        "does not exist, so a batch can't set it. The attributes are: "
          + binding.properties.filter { !$0.isRelationship }.map(\.name).joined(separator: ", ") + ".")
    }
    if info.isRelationship { throw refuse("is a relationship: batches set attributes only.") }
    if info.isTransient { throw refuse("is transient: no store holds it.") }
    if info.derivation != nil { throw refuse("is derived: set what it follows from.") }
    return info
  }

  static func value(
    _ value: Any, _ info: PropertyInfo, of binding: EntityBinding
  ) throws -> _PropertyValue {
    do {
      guard case .attribute(let type) = info.kind else {
        return try _PropertyValue(any: value, elements: info.elements)
      }
      let value = try _PropertyValue(any: value, as: type)
      try value.keepEncoding(info, of: binding)
      return value
    } catch let error as UnfitValue {
      throw error.error(for: info, of: binding.name)
    }
  }

  static func missing(_ info: PropertyInfo, of binding: EntityBinding, row: Int? = nil) -> ManagedObjectError
  {
    let place = row.map { " Object \($0) of the batch lacks it." } ?? ""
    return ManagedObjectError(
      .missingMandatoryProperty, "\(binding.name).\(info.name) is required and has no value.\(place)",
      entity: binding.name, property: info.name)
  }
}

/// The rows of a batch insertion. Each is packed when it is added.
///
/// Many rows are in a temporary file. Their memory does not grow then, and the store is not locked while the request's handler makes
/// them.
final class BatchRows {
  // Guard: one request has the rows, on one thread.
  private let binding: EntityBinding
  @exclusivity(unchecked) private var builder: RowBatchBuilder
  /// The values of the row that is added.
  @exclusivity(unchecked) private var row: [(info: PropertyInfo, value: _PropertyValue)] = []
  /// Full batches, until they are in the file.
  private var batches: [RowBatch] = []
  private var bytes = 0
  private var file: RowFile?
  private let now = Date()
  @exclusivity(unchecked) private(set) var count = 0
  /// The properties that were given for each row, as runs of rows with the same ones. Empty if the entity has no unique values.
  private var given: [(properties: PropertySet, rows: Int)] = []
  let hasUniqueValues: Bool
  @exclusivity(unchecked) private var infos: [String: PropertyInfo] = [:]
  /// Properties that every row must have.
  private let required: [PropertyInfo]
  /// Those without a default.
  private let mandatory: [PropertyInfo]
  /// A part of the progress that was current on the thread when the rows began. It counts the rows that are written.
  private let progress: Progress?

  /// More bytes of rows are written to a file.
  private static let memoryLimit = 16 << 20

  init(_ binding: EntityBinding) {
    self.binding = binding
    builder = RowBatchBuilder(layout: binding.layout)
    progress = Progress.current().map { _ in Progress(totalUnitCount: -1) }
    // A constraint of an entity in the same table counts as well.
    hasUniqueValues = binding.model.schema.entities.contains {
      $0.root == binding.root && !$0.source.uniquenessConstraints.isEmpty
    }
    required = binding.properties.filter {
      !$0.isOptional && !$0.isTransient && !$0.isToMany && $0.derivation == nil
    }
    mandatory = required.filter { $0.cells.allSatisfy { binding.defaults.isNull(0, $0) } }
  }

  func add(_ values: [String: Any]) throws {
    row.removeAll(keepingCapacity: true)
    for (name, value) in values {
      let info: PropertyInfo
      if let known = infos[name] {
        info = known
      } else {
        info = try BatchValues.attribute(name, of: binding)
        infos[name] = info
      }
      row.append((info, try BatchValues.value(value, info, of: binding)))
    }
    try writeRow()
  }

  /// Adds a row with values that fit their properties.
  func add(_ values: [(info: PropertyInfo, value: _PropertyValue)]) throws {
    row = values
    try writeRow()
  }

  /// Whether no required property lacks a value.
  private var isRowComplete: Bool {
    for (info, value) in row where !info.isOptional {
      if case .null = value { return false }
    }
    return mandatory.allSatisfy { info in row.contains { $0.info === info } }
  }

  /// - Returns: the first property that lacks a value, in the order of the entity's properties.
  private func missingProperty() -> PropertyInfo? {
    required.first { info in
      guard let given = row.first(where: { $0.info === info }) else {
        return mandatory.contains { $0 === info }
      }
      if case .null = given.value { return true }
      return false
    }
  }

  private func writeRow() throws {
    if !isRowComplete, let info = missingProperty() {
      throw BatchValues.missing(info, of: binding, row: count)
    }
    count += 1
    if hasUniqueValues { noteRow() }
    if builder.count >= RowBuilders.rowLimit || builder.arenaCount >= RowBuilders.arenaLimit {
      try closeBatch()
    }
    builder.beginRow(copying: binding.defaults, 0, key: -Int64(count), version: 1)
    for (info, value) in row { builder.set(value, of: info) }
    for info in binding.savedDerivations {
      guard let source = info.derivation?.sourceAttribute else {
        builder.set(.real(now.timeIntervalSinceReferenceDate), of: info)
        continue
      }
      let value =
        row.first { $0.info.name == source }?.value ?? binding.property(source)?.defaultValue ?? .null
      builder.set(info.derivation!.value(of: value), of: info)
    }
  }

  private func noteRow() {
    let properties = givenSlots
    if given.last?.properties == properties {
      given[given.count - 1].rows += 1
    } else {
      given.append((properties, 1))
    }
  }

  /// The slots of given values, and of those derived from them.
  private var givenSlots: PropertySet {
    var slots = PropertySet(row.lazy.map(\.info.slot))
    for info in binding.savedDerivations {
      guard let source = info.derivation?.sourceAttribute.flatMap({ binding.property($0)?.slot }) else {
        slots.insert(info.slot)
        continue
      }
      if slots.contains(source) { slots.insert(info.slot) }
    }
    return slots
  }

  // MARK: Batches

  private func closeBatch() throws {
    var full = RowBatchBuilder(
      layout: binding.layout, rows: RowBuilders.rowLimit,
      arenaBytes: builder.arenaCount + builder.arenaCount / 8)
    swap(&full, &builder)
    let batch = full.finish()
    do throws(StoreError) {
      try checkCancellation()
      try keep(batch)
    } catch { throw ManagedObjectError.store(error) }
  }

  /// Keeps a batch in memory, or in the file.
  private func keep(_ batch: RowBatch) throws(StoreError) {
    bytes += batch.byteCount
    if file == nil, bytes > Self.memoryLimit {
      let made = try RowFile(binding.layout)
      for batch in batches { try made.append(batch) }
      batches = []
      file = made
    }
    if let file { try file.append(batch) } else { batches.append(batch) }
  }

  /// Ends the rows.
  func finish() throws {
    if builder.count > 0 { try closeBatch() }
    progress?.totalUnitCount = Int64(max(count, 1))
    if count == 0 { progress?.completedUnitCount = 1 }
  }

  /// Calls a body with all rows, batch by batch. Precondition: the rows are ended.
  func forEachBatch(_ body: (RowBatch) throws(StoreError) -> Void) throws(StoreError) {
    progress?.completedUnitCount = 0
    func write(_ batch: RowBatch) throws(StoreError) {
      try checkCancellation()
      try body(batch)
      if let progress { progress.completedUnitCount += Int64(batch.count) }
    }
    try read(write)
  }

  private func read(_ body: (RowBatch) throws(StoreError) -> Void) throws(StoreError) {
    for batch in batches { try body(batch) }
    try file?.forEachBatch(body)
  }

  /// Notes that all rows are written.
  func complete() { if let progress { progress.completedUnitCount = progress.totalUnitCount } }

  /// All rows in memory, with the properties that were given for each.
  func inMemory() throws(StoreError) -> (batches: [RowBatch], given: [PropertySet]) {
    var all: [RowBatch] = []
    try read { all.append($0) }
    return (all, given.flatMap { repeatElement($0.properties, count: $0.rows) })
  }

  /// - Throws: `.cancelled` if the task or the progress is.
  func checkCancellation() throws(StoreError) {
    // Few rows take no time worth cancelling.
    if count > RowBuilders.rowLimit, Task.isCancelled || progress?.isCancelled == true {
      throw StoreError(.cancelled, "The batch insertion was cancelled. Nothing was saved.")
    }
  }
}
