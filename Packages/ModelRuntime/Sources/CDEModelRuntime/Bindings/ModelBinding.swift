@_spi(CDE) internal import CDEManagedModel
internal import CDEModelFiles
@_spi(CDE) internal import CDESQLiteStore
internal import CDEStore
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
  private let byClass = Lock<[ObjectIdentifier: EntityBinding]>([:])

  private static let bindings = Lock<[ObjectIdentifier: BackReference<ModelBinding>]>([:])

  /// The binding of a model. A model has only one. Freezes the model.
  static func of(_ model: NSManagedObjectModel) throws -> ModelBinding {
    let id = ObjectIdentifier(model)
    return try bindings.withLock { table in
      if let known = table[id]?.object { return known }
      let made = try ModelBinding(model)
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

  private init(_ model: NSManagedObjectModel) throws {
    self.model = model
    let frozen = try model.freeze()
    self.frozen = frozen
    let schema = frozen.resolved
    self.schema = schema
    entities = frozen.entities.mapped { entity in
      EntityBinding(
        description: entity.description, layout: entity.layout,
        properties: entity.properties.mapped { PropertyInfo($0, in: entity.index, schema: schema) },
        model: self)
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
        content = SQLiteStore.modelCache(of: Array(try ModelCompiler.data(of: model)))
      } catch {
        Diagnostics.report(
          "Stores keep no copy of the model, so a later version can't be compared with it: \(error.message)")
      }
      archive = (true, content)
      return content
    }
  }

  /// Used instead of a model that can't be used.
  static let empty: ModelBinding = {
    do { return try of(NSManagedObjectModel()) } catch { fatalError("An empty model is valid: \(error)") }
  }()

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

  /// The entity whose objects are of a class.
  func binding(for type: NSManagedObject.Type) -> EntityBinding? {
    byClass.withLock { table in
      if let known = table[ObjectIdentifier(type)] { return known }
      ManagedObjectClasses.register(type)
      if type == NSManagedObject.self { return nil }
      let names = ManagedObjectClasses.names(of: type)
      let claimants = entities.filter { entity in
        names.contains(entity.description.managedObjectClassName ?? "")
      }
      // Several entities may share a class. The name of the class then selects one.
      let named = claimants.count == 1 ? claimants[0] : claimants.first { $0.name == names.last }
      if named == nil, claimants.count > 1 { return nil }
      let schemaName = (type as? any CDRuntimeSchemaProviding.Type)?.__cdRuntimeEntitySchema.entityName
      let found = named ?? schemaName.flatMap(entity(named:)) ?? entity(named: names.last ?? "")
      guard let found else { return nil }
      found.bind(type)
      table[ObjectIdentifier(type)] = found
      return found
    }
  }

  /// The entity of a class.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.unknownEntity` when there is none, or several.
  func existingBinding(for type: NSManagedObject.Type) throws -> EntityBinding {
    if let found = binding(for: type) { return found }
    throw ManagedObjectError(
      .unknownEntity,
      "The model has no entity for \(type), or several. It has: "
        + entities.map(\.name).joined(separator: ", ") + ".")
  }
}

/// Retains bindings that no coordinator retains.
enum OwnBindings {
  private static let kept = Lock<[ObjectIdentifier: ModelBinding]>([:])

  static func keep(_ binding: ModelBinding) {
    kept.withLock { $0[ObjectIdentifier(binding.model)] = binding }
  }
}
