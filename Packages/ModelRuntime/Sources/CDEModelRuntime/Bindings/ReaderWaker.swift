internal import CDEStore

/// Wakes readers of one class's objects. It is made once for an entity, because finding the conformance of
/// each object costs more than waking a reader.
struct ReaderWaker: Sendable {
  let wake: @Sendable (AnyObject, CDEObservationFieldSet?) -> Void
  /// The field of each slot; -1 if there is none.
  private let fieldOfSlot: IndexedArray<SlotIndex, CDOrdinal>

  init<Model: AnyObject & CDEObservationInvalidationDispatching & SendableMetatype>(
    _ type: Model.Type, fields: IndexedArray<SlotIndex, CDOrdinal?>
  ) {
    fieldOfSlot = fields.mapped { $0 ?? -1 }
    wake = { object, fields in
      guard let model = object as? Model else { return }
      if let fields {
        model.__cdObservationInvalidate(fieldSet: fields)
      } else {
        model.__cdObservationInvalidateAllObservableKeyPaths()
      }
    }
  }

  func fields(_ slots: PropertySet) -> CDEObservationFieldSet {
    var fields = CDEObservationFieldSet()
    for slot in slots where fieldOfSlot[slot] >= 0 { fields.insert(fieldOfSlot[slot]) }
    return fields
  }
}
