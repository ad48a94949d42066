@_spi(CDE) internal import CDEManagedModel
internal import CDEModelFiles
@_spi(CDE) internal import CDEStore
internal import Foundation
@_spi(CDE) internal import CDEExecutors

/// A frozen model in the runtime's form: one binding for each entity, shared by all containers of the model.
@usableFromInline
final class ModelBinding: @unchecked Sendable {
  // Guard: `entities` is filled by the initialiser, before the binding is shared; `byClass` and `archive` by
  // their mutexes.
  let model: NSManagedObjectModel
  let frozen: FrozenModel
  let schema: ResolvedSchema
  private(set) var entities: IndexedArray<EntityIndex, EntityBinding> = []
  private let archive = Lock<(isMade: Bool, content: [UInt8]?)>((false, nil))
  let byClass = Lock<[ObjectIdentifier: EntityBinding]>([:])

  private static let bindings = Lock<[ObjectIdentifier: BackReference<ModelBinding>]>([:])

  /// The binding of a model. A model has only one. Freezes the model.
  ///
  /// - Parameter defaultRow: makes the row with the values of an entity's new object.
  static func of(_ model: NSManagedObjectModel, defaultRow: DefaultRow) throws -> ModelBinding {
    let id = ObjectIdentifier(model)
    return try bindings.withLock { table in
      if let known = table[id]?.object { return known }
      let made = try ModelBinding(model, defaultRow)
      table[id] = BackReference(made)
      return made
    }
  }

  deinit {
    let (id, mine) = (ObjectIdentifier(model), BackReference(self))
    // The model may already have a new binding.
    Self.bindings.withLock { table in
      if table[id] == mine { table[id] = nil }
    }
  }

  /// Bindings in use, for classes that must find their model themselves.
  static var live: [ModelBinding] { bindings.withLock { $0.values.compactMap(\.object) } }

  /// The binding of a model with one entity and no properties: that of IDs which belong to no object.
  static let ofNoObject: ModelBinding = {
    let entity = NSEntityDescription()
    entity.name = "NoObject"
    let model = NSManagedObjectModel()
    model.entities = [entity]
    do {
      return try of(model) { layout, _ in
        var builder = RowBatchBuilder(layout: layout, rows: 1)
        builder.beginRow(key: 0, version: 0)
        return builder.finish()
      }
    } catch { fatalError("A model of one entity is valid: \(error)") }
  }()

  typealias DefaultRow = (RowLayout, IndexedArray<SlotIndex, PropertyInfo>) -> RowBatch

  private init(_ model: NSManagedObjectModel, _ defaultRow: DefaultRow) throws {
    self.model = model
    let frozen = try model.freeze()
    self.frozen = frozen
    let schema = frozen.resolved
    self.schema = schema
    entities = frozen.entities.mapped { entity in
      let properties = entity.properties.mapped { PropertyInfo($0, in: entity.index, schema: schema) }
      return EntityBinding(
        description: entity.description, layout: entity.layout, properties: properties,
        defaults: defaultRow(entity.layout, properties), model: self)
    }
    for remark in frozen.remarks { Diagnostics.reportOnce(about: remark) { remark } }
  }

  /// The copy of the model that new stores keep, made once; nil if the model has a condition or a default value without a form in
  /// archives.
  var modelCache: [UInt8]? {
    archive.withLock { archive -> [UInt8]? in
      if archive.isMade { return archive.content }
      var content: [UInt8]?
      do throws(ModelFileError) {
        content = ModelArchive.content(of: Array(try ModelCompiler.data(of: model)))
      } catch {
        Diagnostics.report(
          "Stores keep no copy of the model, so a later version can't be compared with it: \(error.message)")
      }
      archive = (true, content)
      return content
    }
  }

  /// Indexes of the entities of a configuration, their ancestors included.
  func entities(in configuration: String?) throws -> Set<EntityIndex> {
    let names = Set(try frozen.storeSchema(configuration: configuration).entities.map(\.name))
    return Set(entities.indices.filter { names.contains(entities[$0].name) })
  }

  func entity(named name: String) -> EntityBinding? {
    schema.entity(named: name).map { entities[$0.index] }
  }

  func binding(for description: NSEntityDescription) -> EntityBinding? {
    frozen.entity(for: description).map { entities[$0.index] }
  }
}

/// Retains bindings that no coordinator retains.
enum OwnBindings {
  private static let kept = Lock<[ObjectIdentifier: ModelBinding]>([:])

  static func keep(_ binding: ModelBinding) {
    kept.withLock { $0[ObjectIdentifier(binding.model)] = binding }
  }
}
