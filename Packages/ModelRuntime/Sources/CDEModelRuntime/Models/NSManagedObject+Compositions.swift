internal import CDEStore
internal import Foundation

// Called by accessors of composition storage. A value is decoded once, then kept.
extension NSManagedObject {
  /// The value decoded from a composite's columns, or from a dictionary where the model has no composite.
  public final func _cdComposition<Value: CDCompositionValueCodable>(_ ordinal: CDOrdinal) -> Value? {
    composition(info(at: ordinal))
  }

  public final func _cdComposition<Value: CDCompositionValueCodable>(forKey key: String) -> Value? {
    composition(declaredInfo(forKey: key))
  }

  public final func _cdSetComposition<Value: CDCompositionValueCodable>(_ ordinal: CDOrdinal, _ value: Value?)
  {
    setComposition(info(at: ordinal), value)
  }

  public final func _cdSetComposition<Value: CDCompositionValueCodable>(
    forKey key: String, _ value: Value?
  ) {
    setComposition(declaredInfo(forKey: key), value)
  }

  private func composition<Value: CDCompositionValueCodable>(_ info: PropertyInfo) -> Value? {
    guard case .object(let box) = attributeValue(info) else { return nil }
    return decoded(info, .object(box), false) {
      (box.value as? [String: Any]).flatMap { Value.__cdDecodeComposition(from: $0) }
    }
  }

  private func setComposition<Value: CDCompositionValueCodable>(_ info: PropertyInfo, _ value: Value?) {
    _setAttribute(info.slot, value.map { .object(_ObjectBox($0.__cdEncodeComposition)) } ?? .null)
  }
}
