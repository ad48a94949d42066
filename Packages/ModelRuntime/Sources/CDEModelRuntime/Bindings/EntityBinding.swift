internal import CDEManagedModel
public import CDEStore
internal import Foundation
internal import Synchronization
@_spi(CDE) internal import CDEExecutors

/// One entity of one model in the form that inner loops need: slots and cells instead of names.
@usableFromInline
final class EntityBinding: @unchecked Sendable {
  // Guard: all state is set before the binding is shared, except for the class and the places made from it.
  // These are set once, before the first object exists, under `classLock`.

  /// The place of an accessor's property, by ordinal.
  @usableFromInline
  struct Place {
    /// -1 when the model lacks the property.
    @usableFromInline var slot: NarrowIndex<SlotIndex>
    /// -1 when the property has no cell or needs conversion.
    @usableFromInline var cell: NarrowIndex<CellIndex>
    /// The kind of the cell. A model made by hand may declare another type than the class.
    @usableFromInline var kind = RowLayout.CellKind.integer
    /// Values of texts read so far; nil for a property of another type.
    @usableFromInline var texts: RawTexts?
  }

  let description: NSEntityDescription
  let layout: RowLayout
  let properties: IndexedArray<SlotIndex, PropertyInfo>
  /// The same properties, for code that only reads them. An array retains each element that it returns.
  let lentProperties: UnsafePointer<Borrowed<PropertyInfo>>
  /// Derived attributes that a save computes, and those that the store computes.
  let savedDerivations: [PropertyInfo]
  let storedDerivations: PropertySet
  /// The slots, grouped by the work of a save.
  let savedSlots: SavedSlots
  /// One row with the values of a new object.
  let defaults: RowBatch
  /// The owner, which outlives all uses of the binding. IDs, and objects without a context, retain it. The
  /// registry of a context retains it for the context and its objects.
  unowned(unsafe) let model: ModelBinding

  let index: EntityIndex
  let isAbstract: Bool
  @usableFromInline let root: RootIndex
  @usableFromInline @exclusivity(unchecked) var places: UnsafePointer<Place>
  private(set) var placeCount = 0
  /// Ordinals by name, for a class whose accessors name properties.
  @usableFromInline @exclusivity(unchecked) var names = PropertyNames([], unknown: 0)
  private(set) var ordinals: IndexedArray<SlotIndex, CDOrdinal?> = []
  /// Wakes readers of the class's objects; nil for a class without observation.
  private(set) var waker: ReaderWaker?
  /// The properties that key paths into the model's paths name, for snapshots.
  let pathPlaces = PathPlaces()
  private let isBound = Atomic<Bool>(false)
  private let classLock = Lock<NSManagedObject.Type?>(nil)

  init(
    description: NSEntityDescription, layout: RowLayout, properties: IndexedArray<SlotIndex, PropertyInfo>,
    model: ModelBinding
  ) {
    self.description = description
    self.layout = layout
    self.properties = properties
    let lent = UnsafeMutablePointer<Borrowed<PropertyInfo>>.allocate(capacity: properties.count)
    for (place, info) in properties.enumerated() { (lent + place).initialize(to: Borrowed(info)) }
    lentProperties = UnsafePointer(lent)
    savedDerivations = properties.filter { $0.derivation?.isKeptByStore == false }
    storedDerivations = PropertySet(
      properties.lazy.filter { $0.derivation?.isKeptByStore == true }.map(\.slot))
    savedSlots = SavedSlots(properties, layout)
    self.model = model
    index = layout.entity
    isAbstract = model.schema.entities[layout.entity].source.isAbstract
    root = layout.root
    defaults = Self.defaultRow(layout, properties)
    // The place of a property that the entity lacks.
    let places = UnsafeMutablePointer<Place>.allocate(capacity: 1)
    places.initialize(to: Place(slot: -1, cell: -1))
    self.places = UnsafePointer(places)
  }

  deinit {
    for ordinal in 0..<placeCount { places[ordinal].texts?.free() }
    places.deallocate()
    names.free()
    lentProperties.deallocate()
  }

  var name: String { layout.entityName }

  private static func defaultRow(_ layout: RowLayout, _ properties: IndexedArray<SlotIndex, PropertyInfo>)
    -> RowBatch
  {
    var builder = RowBatchBuilder(layout: layout, rows: 1)
    builder.beginRow(key: 0, version: 0)
    for property in properties where !property.isTransient {
      builder.set(property.defaultValue, of: property)
    }
    return builder.finish()
  }

  /// The class of the entity's objects: the registered class that its description names, otherwise the base
  /// class.
  var objectClass: NSManagedObject.Type {
    if let known = classLock.withLock({ $0 }) { return known }
    guard let found = ManagedObjectClasses.find(for: description) else { return NSManagedObject.self }
    return bind(found)
  }

  /// Binds a class to this entity, if none is bound and the model names no other.
  @discardableResult
  func bind(_ given: NSManagedObject.Type) -> NSManagedObject.Type {
    // The base class can represent any entity, so one object of it determines nothing about other objects.
    if given == NSManagedObject.self { return given }
    return classLock.withLock { bound in
      if let bound { return bound }
      let type = ManagedObjectClasses.find(for: description) ?? given
      let entity = type as? any CDPropertyNaming.Type
      // Accessors that name properties may ask for any of their entity.
      let known = entity?.__cdPropertyNames ?? properties.map(\.name)
      readPlaces(of: known)
      names.free()
      names = PropertyNames(entity == nil ? known : [], unknown: known.count)
      if let observed = type as? any (NSManagedObject & CDEObservationInvalidationDispatching).Type {
        waker = ReaderWaker(
          observed, fields: IndexedArray(zip(ordinals, properties).map { $1.isTransient ? nil : $0 }))
      }
      bound = type
      isBound.store(true, ordering: .releasing)
      return type
    }
  }

  /// Binds the class of the first object made, if the class was not bound before.
  @inline(__always)
  func bindIfNeeded(_ given: NSManagedObject.Type) {
    if !isBound.load(ordering: .acquiring) { bind(given) }
  }

  private func readPlaces(of names: [String]) {
    let table = UnsafeMutablePointer<Place>.allocate(capacity: names.count + 1)
    (table + names.count).initialize(to: Place(slot: -1, cell: -1))
    ordinals = IndexedArray(repeating: nil, count: layout.properties.count)
    for (ordinal, name) in names.enumerated() {
      var place = Place(slot: -1, cell: -1)
      if let property = layout.property(named: name) {
        place.slot = NarrowIndex(property.slot)
        ordinals[property.slot] = CDOrdinal(ordinal)
        if properties[property.slot].isDirect {
          place.cell = NarrowIndex(property.cells.lowerBound)
          place.kind = layout.cells[property.cells.lowerBound].kind
          if place.kind == .text { place.texts = RawTexts() }
        }
      }
      (table + ordinal).initialize(to: place)
    }
    places.deallocate()
    places = UnsafePointer(table)
    placeCount = names.count
  }

  func property(_ name: String) -> PropertyInfo? { layout.slot(named: name).map { properties[$0] } }
}
