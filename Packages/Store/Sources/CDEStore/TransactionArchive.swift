import Foundation

/// A transaction as bytes: the record of what a store lacks.
///
/// Entities and properties are written by name, each entity with the form of its rows. A store whose entities have another form
/// by then refuses the archive. Only the written cells of a row are contained.
public enum TransactionArchive {
  private static let head = Array("CDE save 1".utf8)

  /// Makes the archive of a transaction.
  ///
  /// - Parameters:
  ///   - transaction: a transaction whose rows have permanent keys.
  ///   - schema: the schema of its rows.
  public static func encode(_ transaction: StoreTransaction, schema: ResolvedSchema) -> [UInt8] {
    var writer = ArchiveWriter(schema)
    writer.bytes = head
    writer.put(transaction.author)
    writer.put(transaction.contextName)
    writer.put(transaction.inserted.count)
    for batch in transaction.inserted { writer.put(batch) { _ in nil } }
    writer.put(transaction.updated.count)
    for update in transaction.updated { writer.put(update.batch) { update.changed[$0] } }
    writer.put(transaction.deleted.count)
    for deletion in transaction.deleted {
      writer.put(deletion.entity)
      writer.put(deletion.key)
      writer.put(deletion.version)
      writer.put(deletion.emptied, of: deletion.entity)
      writer.put(deletion.kept, of: deletion.entity)
    }
    writer.put(transaction.links.count)
    for link in transaction.links {
      writer.put(link.entity)
      writer.put(link.kind == .add ? 1 : 0)
      writer.put([link.slot], of: link.entity)
      writer.put(link.owner)
      writer.put(link.member)
      writer.put(link.isAppended ? 1 : link.isRanked ? 2 : 0)
      writer.put(link.order == nil ? 0 : 1)
      writer.put(link.order ?? 0)
    }
    writer.put(transaction.touched.count)
    for touch in transaction.touched {
      writer.put(touch.entity)
      writer.put(touch.key)
      writer.put(touch.properties, of: touch.entity)
    }
    return writer.bytes
  }

  /// Reads an archive.
  ///
  /// - Parameters:
  ///   - bytes: the archive.
  ///   - schema: the schema of the store that writes the transaction.
  /// - Throws: `.unreadable` for other bytes, `.incompatibleSchema` if an entity is missing or has another form.
  public static func decode(_ bytes: [UInt8], schema: ResolvedSchema) throws(StoreError) -> StoreTransaction {
    guard bytes.starts(with: head) else { throw ArchiveReader.damaged() }
    var reader = ArchiveReader(bytes[head.count...], schema)
    var transaction = StoreTransaction()
    transaction.author = try reader.text()
    transaction.contextName = try reader.text()
    for _ in 0..<(try reader.count()) { transaction.inserted.append(try reader.batch().batch) }
    for _ in 0..<(try reader.count()) { transaction.updated.append(try reader.batch()) }
    for _ in 0..<(try reader.count()) {
      let entity = try reader.entity()
      transaction.deleted.append(
        RowDeletion(
          entity: entity, key: try reader.integer(), version: try reader.integer(),
          emptied: try reader.slots(of: entity), kept: try reader.slots(of: entity)))
    }
    for _ in 0..<(try reader.count()) {
      let entity = try reader.entity()
      let isAdded = try reader.integer() == 1
      let slots = try reader.slots(of: entity)
      guard let slot = slots.first(where: { _ in true }),
        case .toMany = schema.entities[entity].layout.properties[slot].kind
      else { throw ArchiveReader.damaged() }
      var link = LinkChange(
        kind: isAdded ? .add : .remove, entity: entity, slot: slot, owner: try reader.integer(),
        member: try reader.integer())
      let kind = try reader.integer()
      (link.isAppended, link.isRanked) = (kind == 1, kind == 2)
      let hasOrder = try reader.integer() == 1
      let order = try reader.integer()
      link.order = hasOrder ? order : nil
      transaction.links.append(link)
    }
    for _ in 0..<(try reader.count()) {
      let entity = try reader.entity()
      transaction.touched.append(
        StoreTouch(entity: entity, key: try reader.integer(), properties: try reader.slots(of: entity)))
    }
    guard reader.isAtEnd else { throw ArchiveReader.damaged() }
    return transaction
  }

  /// The form of an entity's rows, as text.
  fileprivate static func form(of layout: RowLayout) -> String {
    layout.cells.map { "\($0.name) \($0.kind.rawValue) \($0.type.rawValue) \($0.role)" }.joined(
      separator: "\n")
  }
}

private struct ArchiveWriter {
  let schema: ResolvedSchema
  var bytes: [UInt8] = []

  init(_ schema: ResolvedSchema) { self.schema = schema }

  mutating func put(_ value: Int64) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(_ value: Int) { put(Int64(value)) }

  mutating func put(_ raw: UnsafeRawBufferPointer) {
    put(raw.count)
    bytes.append(contentsOf: raw)
  }

  mutating func put(_ text: String?) {
    put(text == nil ? 0 : 1)
    Array((text ?? "").utf8).withUnsafeBytes { put($0) }
  }

  mutating func put(_ entity: EntityIndex) { put(schema.entities[entity].source.name) }

  mutating func put(_ slots: PropertySet, of entity: EntityIndex) {
    let properties = schema.entities[entity].layout.properties
    put(slots.count)
    for slot in slots { put(properties[slot].name) }
  }

  /// - Parameter changed: returns the written slots of a row; nil for all.
  mutating func put(_ batch: RowBatch, _ changed: (Int) -> PropertySet?) {
    let layout = batch.layout
    put(layout.entity)
    put(TransactionArchive.form(of: layout))
    put(batch.count)
    for row in 0..<batch.count {
      put(batch.key(row))
      put(batch.version(row))
      let slots = changed(row)
      put(slots == nil ? 0 : 1)
      put(slots ?? PropertySet(), of: layout.entity)
      for (cell, description) in zip(layout.cells.indices, layout.cells) {
        guard slots?.contains(description.slot) ?? true, !batch.isNull(row, cell) else {
          bytes.append(0)
          continue
        }
        bytes.append(1)
        switch description.kind {
        case .integer, .real:
          if description.role == .entity, let entity = batch.entity(row, cell) {
            // Numbers of entities differ between versions of a model.
            put(entity)
          } else {
            put(Int64(bitPattern: batch.word(row, cell)))
          }
        case .text, .blob: put(batch.bytes(row, cell))
        }
      }
    }
  }
}

private struct ArchiveReader {
  private let schema: ResolvedSchema
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>, _ schema: ResolvedSchema) {
    rest = bytes
    self.schema = schema
  }

  var isAtEnd: Bool { rest.isEmpty }

  static func damaged() -> StoreError {
    StoreError(.unreadable, "The record of a save over several stores is damaged.")
  }

  private mutating func take(_ count: Int) throws(StoreError) -> ArraySlice<UInt8> {
    guard count >= 0, rest.count >= count else { throw Self.damaged() }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  mutating func integer() throws(StoreError) -> Int64 {
    let bytes = try take(8)
    return bytes.withUnsafeBytes { Int64(littleEndian: $0.loadUnaligned(as: Int64.self)) }
  }

  /// A number of elements, each of which has at least one byte.
  mutating func count() throws(StoreError) -> Int {
    let count = try integer()
    guard count >= 0, count <= rest.count else { throw Self.damaged() }
    return Int(count)
  }

  mutating func data() throws(StoreError) -> ArraySlice<UInt8> { try take(try count()) }

  mutating func text() throws(StoreError) -> String? {
    let exists = try integer() == 1
    let text = String(decoding: try data(), as: UTF8.self)
    return exists ? text : nil
  }

  mutating func entity() throws(StoreError) -> EntityIndex {
    let name = try text() ?? ""
    guard let entity = schema.entity(named: name) else {
      throw StoreError(
        .incompatibleSchema, "A save over several stores has objects of \(name), which the model lacks now.",
        entity: name)
    }
    return entity.index
  }

  mutating func slots(of entity: EntityIndex) throws(StoreError) -> PropertySet {
    var slots = PropertySet()
    for _ in 0..<(try count()) {
      let name = try text() ?? ""
      guard let slot = schema.entities[entity].layout.slot(named: name) else { throw changed(entity) }
      slots.insert(slot)
    }
    return slots
  }

  private func changed(_ entity: EntityIndex) -> StoreError {
    let name = schema.entities[entity].source.name
    return StoreError(
      .incompatibleSchema,
      "A save over several stores has objects of \(name), which has other properties now.",
      entity: name)
  }

  mutating func batch() throws(StoreError) -> RowUpdate {
    let entity = try entity()
    let layout = schema.entities[entity].layout
    guard try text() == TransactionArchive.form(of: layout) else { throw changed(entity) }
    let count = try count()
    var changed: [PropertySet] = []
    var builder = RowBatchBuilder(layout: layout, rows: min(count, 512))
    for _ in 0..<count {
      let key = try integer()
      // The keys of a written transaction are permanent.
      guard key > 0 else { throw Self.damaged() }
      builder.beginRow(key: key, version: try integer())
      _ = try integer()
      changed.append(try slots(of: entity))
      for (cell, description) in zip(layout.cells.indices, layout.cells) {
        guard try take(1).first == 1 else { continue }
        switch description.kind {
        case .integer, .real:
          if description.role == .entity {
            builder.setEntity(cell, try self.entity())
          } else {
            builder.setWord(cell, UInt64(bitPattern: try integer()))
          }
        case .text, .blob:
          let bytes = try data()
          guard builder.arenaCount + bytes.count <= UInt32.max else { throw Self.damaged() }
          bytes.withUnsafeBytes { builder.setBytes(cell, $0) }
        }
      }
    }
    return RowUpdate(batch: builder.finish(), changed: changed)
  }
}

extension StoreTransaction {
  /// A copy whose rows have the keys of a commit.
  ///
  /// - Parameters:
  ///   - base: as for ``RowBatch/assignKeys(base:schema:)``.
  ///   - schema: the schema of the rows.
  public func withKeys(of base: IndexedArray<RootIndex, Int64>, schema: ResolvedSchema)
    -> StoreTransaction
  {
    func copy(_ batch: RowBatch) -> RowBatch {
      var builder = RowBatchBuilder(layout: batch.layout, rows: batch.count)
      for row in 0..<batch.count {
        builder.beginRow(copying: batch, row, key: batch.key(row), version: batch.version(row))
      }
      let copy = builder.finish()
      copy.assignKeys(base: base, schema: schema)
      return copy
    }
    func key(_ key: Int64, _ entity: EntityIndex) -> Int64 {
      key < 0 ? base[schema.entities[entity].root] - key : key
    }
    var result = self
    result.inserted = inserted.map(copy)
    result.updated = updated.map { RowUpdate(batch: copy($0.batch), changed: $0.changed) }
    for index in links.indices {
      let link = links[index]
      result.links[index].owner = key(link.owner, link.entity)
      result.links[index].member = key(
        link.member, schema.end(of: link.slot, in: link.entity).destination)
    }
    for index in touched.indices {
      result.touched[index].key = key(touched[index].key, touched[index].entity)
    }
    return result
  }
}
