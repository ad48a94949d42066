internal import CDEStore

/// The slots of an entity by what saving an object has to do for them.
struct SavedSlots: Sendable {
  /// Properties with columns.
  var withCells = PropertySet()
  var transient = PropertySet()
  /// To-many relationships whose order the members' rows keep.
  var ordered = PropertySet()
  /// To-many relationships whose pairs are kept outside the rows.
  var linked = PropertySet()
  /// To-many relationships without an inverse.
  var oneWay = PropertySet()
  /// To-one relationships whose other side is to-many.
  var owned = PropertySet()

  init(_ properties: [PropertyInfo]) {
    for info in properties {
      if !info.cells.isEmpty { withCells.insert(info.slot) }
      if info.isTransient { transient.insert(info.slot) }
      if info.isOrdered, !info.usesLinks { ordered.insert(info.slot) }
      if info.usesLinks { linked.insert(info.slot) }
      if info.isToMany, info.inverseSlot == nil { oneWay.insert(info.slot) }
      if info.kind == .toOne, info.inverseIsToMany { owned.insert(info.slot) }
    }
  }
}
