public import CDEManagedModel
internal import CDEModelRuntime
public import Foundation

/// What a store's rows tell about its model's types: a model does not have the cases of enumerations, nor the types of collections.
public struct StoredValues {
  /// The raw values of enumerations, by entity and attribute: `Trip.mood`.
  private(set) var rawValues: [String: Set<AnyHashable>] = [:]
  /// The shapes of JSON in binary elements of structures, by entity, attribute and elements: `Trip.place.tags`.
  private(set) var shapes: [String: StoredShape] = [:]

  /// Knows nothing.
  public init() {}

  /// Reads all rows that have such attributes. The store is opened for reading only.
  ///
  /// - Parameters:
  ///   - store: The store's file.
  ///   - model: The store's model.
  /// - Throws: The error of opening the store, or of reading its rows.
  public init(of store: URL, with model: NSManagedObjectModel) throws {
    var wanted: [(entity: String, attribute: NSCompositeAttributeDescription)] = []
    for entity in model.entities {
      for case let composite as NSCompositeAttributeDescription in entity.properties
      where Self.isRawEnumeration(composite) || Self.hasBytes(composite) {
        wanted.append((entity.name ?? "", composite))
      }
    }
    if wanted.isEmpty { return }
    let container = NSPersistentContainer(name: "store", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: store)
    description.isReadOnly = true
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    let context = container.newBackgroundContext()
    self = try context.performAndWait {
      var result = StoredValues()
      for (entity, attribute) in wanted {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.fetchBatchSize = 500
        for object in try context.fetch(request) {
          if let value = object.value(forKey: attribute.name) as? [String: Any] {
            result.note(value, of: attribute, at: "\(entity).\(attribute.name)")
          }
          context.refresh(object, mergeChanges: false)
        }
      }
      return result
    }
  }

  /// Whether a composite is an enumeration with raw values: its one element has its name.
  static func isRawEnumeration(_ composite: NSCompositeAttributeDescription) -> Bool {
    composite.userInfo?["EnumType"] != nil && composite.elements.map(\.name) == [composite.name]
  }

  private static func hasBytes(_ composite: NSCompositeAttributeDescription) -> Bool {
    composite.userInfo?["EnumType"] == nil
      && composite.elements.contains {
        $0.attributeType == .binaryDataAttributeType
          || ($0 as? NSCompositeAttributeDescription).map { hasBytes($0) || isRawEnumeration($0) } == true
      }
  }

  private mutating func note(
    _ value: [String: Any], of composite: NSCompositeAttributeDescription, at path: String
  ) {
    if Self.isRawEnumeration(composite) {
      if let raw = value[composite.name] as? AnyHashable { rawValues[path, default: []].insert(raw) }
      return
    }
    for element in composite.elements {
      let place = "\(path).\(element.name)"
      if let inner = element as? NSCompositeAttributeDescription {
        if let value = value[element.name] as? [String: Any] { note(value, of: inner, at: place) }
      } else if element.attributeType == .binaryDataAttributeType, let data = value[element.name] as? Data {
        note(data, at: place)
      }
    }
  }

  private mutating func note(_ data: Data, at place: String) {
    let shape = StoredShape(json: data) ?? .mixed
    shapes[place] = shapes[place]?.joined(to: shape) ?? shape
  }
}
