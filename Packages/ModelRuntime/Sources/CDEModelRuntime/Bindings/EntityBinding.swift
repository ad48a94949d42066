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
  /// The name of the root entity, which rows have in common with other versions of the model.
  let rootName: String
  let rootNameHash: Int
  @usableFromInline @exclusivity(unchecked) var places: UnsafePointer<Place>
  private(set) var placeCount = 0
  /// Ordinals by name, for a class whose accessors name properties.
  @usableFromInline @exclusivity(unchecked) var names = PropertyNames([], unknown: 0)
  private(set) var ordinals: IndexedArray<SlotIndex, CDOrdinal?> = []
  /// The properties for which the class has accessors of its own. Set while the class is bound.
  var accessors = PropertySet()
  /// Wakes readers of the class's objects; nil for a class without observation.
  var waker: ReaderWaker?
  /// The properties that key paths into the model's paths name, for snapshots.
  let pathPlaces = PathPlaces()
  let isBound = Atomic<Bool>(false)
  /// The class of the entity's objects, a managed one; nil until it is known.
  let classLock = Lock<AnyClass?>(nil)

  init(
    description: NSEntityDescription, layout: RowLayout, properties: IndexedArray<SlotIndex, PropertyInfo>,
    defaults: RowBatch, model: ModelBinding
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
    rootName = model.schema.entities[layout.root.entity].source.name
    rootNameHash = rootName.hashValue
    self.defaults = defaults
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

  /// Takes the ordinals of a class. A class without ordinals asks by names, for any property of the entity.
  ///
  /// - Precondition: the caller has `classLock`.
  func readOrdinals(of type: AnyClass) {
    let declared =
      (type as? any CDPropertyNaming.Type)?.__cdPropertyNames
      ?? (type as? any CDEntityPropertyNaming.Type)?.propertyNames(of: description)
    let known = declared ?? properties.map(\.name)
    readPlaces(of: known)
    names.free()
    names = PropertyNames(declared == nil ? known : [], unknown: known.count)
  }

  /// Whether the class of the entity may have an accessor of its own for a property.
  func hasAccessor(_ info: PropertyInfo) -> Bool {
    info.isTransient || isBound.load(ordering: .acquiring) && accessors.contains(info.slot)
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
