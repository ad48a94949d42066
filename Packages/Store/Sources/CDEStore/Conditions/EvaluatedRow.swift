/// A row whose conditions are decided in memory.
@_spi(CDE) public protocol EvaluatedRow {
  /// The row's key, unique in its inheritance tree. Below zero for a row that is not in a store.
  var key: Int64 { get }

  /// The row's own entity.
  var concreteEntity: EntityIndex { get }

  /// The value of an attribute, of a composite's leaf, or the key of a to-one relationship. Decimals are numbers here.
  ///
  /// - Parameter entity: the entity whose layout numbers the slot: the row's own or one that it inherits from.
  func value(of slot: SlotIndex, leaf: Int, in entity: EntityIndex) throws(StoreError) -> StoreValue

  /// The rows that a relationship leads to, in any order.
  ///
  /// - Parameter entity: the entity whose layout numbers the slot: the row's own or one that it inherits from.
  func destinations(of slot: SlotIndex, in entity: EntityIndex) throws(StoreError) -> [Self]
}
