@_spi(CDE) internal import CDEStore
internal import Foundation

// Core Data's algorithm for version hashes, found by comparing stores and compiled models with their
// descriptions. All hashes are SHA-256. Strings are added as UTF-8 without length or terminator, numbers as
// 32 bits little endian.

extension NSPropertyDescription {
  func baseHash() -> [UInt8] {
    // No other value than zero has been observed here.
    SHA256.hash(
      Array(name.utf8) + [isOptional ? 1 : 0, 0] + Array((versionHashModifier ?? "").utf8))
  }
}

extension NSAttributeDescription {
  func attributeHash() -> [UInt8] {
    var bytes = baseHash()
    bytes.appendNumber(Int(attributeType.rawValue))
    if allowsExternalBinaryDataStorage || preservesValueInHistoryOnDeletion { bytes.append(1) }
    return SHA256.hash(bytes)
  }
}

extension NSDerivedAttributeDescription {
  /// Only the expression is included, not the name or the type.
  func derivedHash() -> [UInt8] { SHA256.hash(Array((canonicalDerivation ?? "").utf8)) }

  /// The expression in the form that Core Data prints after parsing.
  var canonicalDerivation: String? {
    guard let derivation else { return nil }
    let text = String(derivation.filter { !$0.isWhitespace })
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    for (name, function) in [("@count", "count"), ("@sum", "sum")] {
      guard let place = parts.firstIndex(of: name[...]), place > 0 else { continue }
      // Proven for counts. Sums are not in the known files, and get the form in which compiled models have them.
      return "\(function):(\((parts[..<place] + parts[(place + 1)...]).joined(separator: ".")))"
    }
    return text
  }
}

extension NSCompositeAttributeDescription {
  /// Only the elements are included, not the composite's name or optionality.
  func compositeHash() -> [UInt8] {
    SHA256.hash(
      elements.sorted { codePointOrder($0.name, $1.name) }.flatMap { $0.hashBytes() })
  }
}

extension NSRelationshipDescription {
  func relationshipHash() -> [UInt8] {
    var bytes = baseHash()
    bytes += Array((destinationEntity?.name ?? "").utf8)
    // A relationship that is its own inverse does not include the inverse's name.
    if let inverse = inverseRelationship, inverse !== self { bytes += Array(inverse.name.utf8) }
    bytes.appendNumber(maxCount)
    bytes.appendNumber(minCount)
    if isOrdered { bytes += [1, 0] }
    return SHA256.hash(bytes)
  }
}

extension NSEntityDescription {
  func entityHash() -> [UInt8] {
    var bytes = Array((name ?? "").utf8)
    bytes.append(isAbstract ? 1 : 0)
    if let superentity { bytes += Array(superentity.versionHash) }
    let persistent = collectedProperties().values.filter {
      !$0.isTransient && !($0 is NSFetchedPropertyDescription)
    }
    for property in persistent.sorted(by: { codePointOrder($0.name, $1.name) }) {
      bytes += property.hashBytes()
    }
    bytes += Array((versionHashModifier ?? "").utf8)
    // Constraints are sorted, the keys of each are in the order of the model.
    let constraints = constraintNames.map { $0.joined(separator: ".") }.sorted(by: codePointOrder)
    for constraint in constraints { bytes += Array(constraint.utf8) }
    return SHA256.hash(bytes)
  }
}

/// Hashes over a whole model, from its entities' hashes by name.
enum ModelHashes {
  /// `NSStoreModelVersionHashesDigest` of a store's metadata.
  static func digest(of hashes: [String: Data]) -> String {
    let bytes = ordered(hashes).flatMap { Array($0.key.utf8) + Array($0.value) }
    return Data(SHA512.hash(bytes)).base64EncodedString()
  }

  /// `NSStoreModelVersionChecksumKey` of a store's metadata.
  static func checksum(of hashes: [String: Data]) -> String {
    Data(SHA256.hash(ordered(hashes).flatMap { Array($0.value) })).base64EncodedString()
  }

  private static func ordered(_ hashes: [String: Data]) -> [(key: String, value: Data)] {
    hashes.sorted { codePointOrder($0.key, $1.key) }
  }
}

extension [UInt8] {
  fileprivate mutating func appendNumber(_ value: Int) {
    Swift.withUnsafeBytes(of: Int32(truncatingIfNeeded: value).littleEndian) { append(contentsOf: $0) }
  }
}
