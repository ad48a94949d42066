@_spi(CDE) internal import CDEModelFiles
internal import CDEStore
internal import Foundation

extension StoreMigration {
  /// The migration that carries out an inferred mapping.
  init(_ mapping: InferredMapping, to model: ModelBinding) {
    self.init(
      entities: mapping.entities.compactMap { entity in
        guard let source = entity.source, let destination = entity.destination,
          let binding = model.entity(named: destination)
        else { return nil }
        let properties = entity.properties.map { property in
          let info = binding.properties.first { $0.name == property.name }
          return (
            property.name,
            StoreMigration.Property(
              source: property.source, defaults: info.map(binding.storedDefaults) ?? [],
              elements: Dictionary(property.elements.map { ($0.path, $0.source) }) { first, _ in first })
          )
        }
        return Entity(
          source: source, destination: destination,
          properties: Dictionary(properties) { first, _ in first })
      })
  }
}

extension EntityBinding {
  /// The default values of an attribute's leaves, as a save of a new object stores them; empty for a relationship.
  fileprivate func storedDefaults(of info: PropertyInfo) -> [StoreValue] {
    switch info.kind {
    case .toOne, .toMany: return []
    case .attribute, .composite: break
    }
    var builder = RowBatchBuilder(layout: layout)
    builder.beginRow(key: -1, version: 1)
    builder.set(info.defaultValue, of: info)
    let batch = builder.finish()
    return info.cells.map { cell in
      if batch.isNull(0, cell) { return .null }
      switch layout.cells[cell].kind {
      case .integer: return batch.integer(0, cell).map { .integer($0) } ?? .null
      case .real: return batch.real(0, cell).map { .real($0) } ?? .null
      case .text: return batch.string(0, cell).map { .text($0) } ?? .null
      case .blob: return .blob(Data(batch.bytes(0, cell)))
      }
    }
  }
}
