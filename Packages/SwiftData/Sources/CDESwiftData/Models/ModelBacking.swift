/// The stored properties of a `_ModelBacking`, the same for all classes.
@frozen
public struct _ModelFields {
  /// The object; nil before the first property was set.
  @usableFromInline var known: _ModelObject?
  let info: Unmanaged<_ModelInfo>?
  /// The model context of a fetched instance, so that a function may return what a context of its own fetched. The instance keeps it
  /// and not the object, because objects that are related keep each other. Or `LentModels`, which has the context.
  var kept: AnyObject?

  init(_ object: _ModelObject?, _ info: _ModelInfo?) {
    known = object
    self.info = info.map { Unmanaged.passUnretained($0) }
  }

  mutating func adopt(_ object: _ModelObject, in context: ModelContext?) {
    known = object
    // A new object's instance is held by the context.
    if !object.isInserted { kept = context }
  }
}

/// Where an instance of a model has its values: in an object, with or without a context.
///
/// Each class with `@Model` has one as its only field. It is made empty. The first property that an initialiser sets makes the
/// object.
@frozen
public struct _ModelBacking<Model: PersistentModel> {
  @usableFromInline var fields: _ModelFields

  /// The field of an instance whose initialiser begins.
  public init(_ info: _ModelInfo) { fields = _ModelFields(InstanceMaking.object(for: info), info) }

  /// The field of an instance that exists, for its values by key path.
  init(_ object: _ModelObject) { fields = _ModelFields(object, nil) }

  /// The object; nil before the first property was set.
  @inlinable
  var known: _ModelObject? {
    @inline(__always) get { fields.known }
    @inline(__always) set { fields.known = newValue }
  }

  /// Takes an object that exists.
  public mutating func adopt(_ object: _ModelObject) { fields.adopt(object, in: object.modelContext) }

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
  var lentModels: LentModels? { fields.kept as? LentModels }

  /// The same, made if there is none; nil for a field that is in no instance.
  func lentModels(in model: Model) -> LentModels? {
    if let lentModels { return lentModels }
    guard let offset = fields.info?._withUnsafeGuaranteedRef({ $0.fieldOffset }) else { return nil }
    let made = LentModels(fields.kept as? ModelContext)
    // The getter of a property can't change the field otherwise: a read of the relationship is no mutation.
    let field = Unmanaged.passUnretained(model).toOpaque() + offset
    field.assumingMemoryBound(to: Self.self).pointee.fields.kept = made
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
    let facts = fields.info?.takeUnretainedValue() ?? _ModelInfo.of(Model.self)
    // Only compared with addresses of instances. The field is one of a class, so the address is the field's own.
    let field = withUnsafeMutablePointer(to: &self) { UnsafeMutableRawPointer($0) }
    let object = facts.begin(field: field)
    known = object
    return object
  }
}
