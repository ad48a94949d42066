/// Where an instance of a model has its values: in an object, with or without a context.
///
/// Each class with `@Model` has one as its only field. It is made empty. The first property that an initialiser sets makes the
/// object.
@frozen
public struct _ModelBacking<Model: PersistentModel> {
  /// The object; nil before the first property was set.
  @usableFromInline var known: _ModelObject?
  private let info: Unmanaged<_ModelInfo>?
  /// The model context of a fetched instance, so that a function may return what a context of its own fetched. The instance keeps it
  /// and not the object, because objects that are related keep each other. Or `LentModels`, which has the context.
  private var kept: AnyObject?

  /// The field of an instance whose initialiser begins.
  public init(_ info: _ModelInfo) {
    self.info = Unmanaged.passUnretained(info)
    known = InstanceMaking.object(for: info)
  }

  /// The field of an instance that exists, for its values by key path.
  init(_ object: _ModelObject) {
    info = nil
    known = object
  }

  /// The field of an instance that is made of an object without an initialiser.
  init(_ object: _ModelObject, _ info: _ModelInfo) {
    self.info = Unmanaged.passUnretained(info)
    adopt(object)
  }

  /// Takes an object that exists.
  public mutating func adopt(_ object: _ModelObject) {
    known = object
    // A new object's instance is held by the context.
    if !object.isInserted { kept = object.modelContext }
  }

  /// The object of an instance that exists.
  public mutating func object(of model: Model) -> _ModelObject {
    if let known {
      known.know(model)
      return known
    }
    let base = Unmanaged.passUnretained(model).toOpaque()
    let object = InstanceMaking.begun(at: base) ?? _ModelInfo.known(type(of: model)).makeObject()
    object.know(model)
    known = object
    return object
  }

  @usableFromInline @inline(never)
  func _object(of model: Model) -> _ModelObject { model._$object }

  @inlinable @inline(__always)
  func object(reading model: Model) -> _ModelObject { known ?? _object(of: model) }

  /// The object without a counted reference: the field keeps it during an access.
  @inlinable @inline(__always)
  func borrowed(for model: Model) -> Unmanaged<_ModelObject> {
    if let known { return .passUnretained(known) }
    return .passUnretained(_object(of: model))
  }

  /// The models of the relationship that was read last; nil if there are none.
  var lentModels: LentModels? { kept as? LentModels }

  /// The same, made if there is none; nil for a field that is in no instance.
  func lentModels(in model: Model) -> LentModels? {
    if let lentModels { return lentModels }
    guard let offset = info?._withUnsafeGuaranteedRef({ $0.fieldOffset }) else { return nil }
    let made = LentModels(kept as? ModelContext)
    // The getter of a property can't change the field otherwise: a read of the relationship is no mutation.
    let field = Unmanaged.passUnretained(model).toOpaque() + offset
    field.assumingMemoryBound(to: Self.self).pointee.kept = made
    return made
  }

  // MARK: Initialising

  /// The object that an initialiser sets a property of; nil if the instance is of an object that has values.
  @inlinable @inline(__always)
  mutating func target() -> _ModelObject? {
    if let known { return known.isBeingMade ? nil : known }
    return begin()
  }

  @usableFromInline @inline(never)
  mutating func begin() -> _ModelObject {
    let facts = info?.takeUnretainedValue() ?? _ModelInfo.of(Model.self)
    // Only compared with addresses of instances. The field is one of a class, so the address is the field's own.
    let field = withUnsafeMutablePointer(to: &self) { UnsafeMutableRawPointer($0) }
    let object = facts.begin(field: field)
    known = object
    return object
  }
}
