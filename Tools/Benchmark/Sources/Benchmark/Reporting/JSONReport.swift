import Foundation

/// The results for programs. Every object has the same keys; unknown figures are null.
package struct JSONReport: Encodable {
  let results: [RowResult]
  let growth: [GrowthResult]
  let isSmoke: Bool

  package init(results: [RowResult], growth: [GrowthResult], isSmoke: Bool) {
    (self.results, self.growth, self.isSmoke) = (results, growth, isSmoke)
  }

  private enum Key: String, CodingKey {
    case row, name, unit, ours, rawWithOurPragmas, grdb, raw, floor
    case reference, referenceName, spread
    case ratioToRawWithOurPragmas, ratioToGRDB, ratioToReference
    case target, targetKind, required, verdict
    /// How many objects the context has registered, in rows of growth.
    case objects
  }

  package func encode(to encoder: any Encoder) throws {
    var list = encoder.unkeyedContainer()
    for result in results {
      var object = list.nestedContainer(keyedBy: Key.self)
      try object.encode(result.row.rawValue, forKey: .row)
      try object.encode(result.row.name, forKey: .name)
      try object.encode(result.row.unit, forKey: .unit)
      try object.encode(result.ours, forKey: .ours)
      try object.encode(result.rawTuned, forKey: .rawWithOurPragmas)
      try object.encode(result.grdb, forKey: .grdb)
      try object.encode(result.raw, forKey: .raw)
      try object.encode(result.floor, forKey: .floor)
      try object.encode(result.reference, forKey: .reference)
      try object.encode(result.row.reference, forKey: .referenceName)
      try object.encode(result.spread, forKey: .spread)
      try object.encode(result.ratioToTuned, forKey: .ratioToRawWithOurPragmas)
      try object.encode(result.ratioToGRDB, forKey: .ratioToGRDB)
      try object.encode(result.ratioToReference, forKey: .ratioToReference)
      try object.encode(result.row.target.number, forKey: .target)
      try object.encode(result.row.target.kind, forKey: .targetKind)
      try object.encode(result.row.isRequired, forKey: .required)
      try object.encode(isSmoke ? nil : result.verdict?.rawValue, forKey: .verdict)
      try object.encodeNil(forKey: .objects)
    }
    for result in growth {
      for id in GrowthID.allCases where id.operation == result.operation {
        try encode(result, id, into: &list)
      }
    }
  }

  /// The reference of a row of growth is the same operation at the smallest size.
  private func encode(
    _ result: GrowthResult, _ id: GrowthID, into list: inout any UnkeyedEncodingContainer
  ) throws {
    let smallest = result.figures.keys.min()
    let hasReference = result.ratio(at: id.size) != nil
    // The target is the largest size's.
    let hasVerdict = !isSmoke && id.size == result.figures.keys.max()
    var object = list.nestedContainer(keyedBy: Key.self)
    try object.encode(id.rawValue, forKey: .row)
    try object.encode("\(result.operation.name), \(id.size.text) registered", forKey: .name)
    try object.encode("ns", forKey: .unit)
    try object.encode(result.median(id.size), forKey: .ours)
    for key in [Key.rawWithOurPragmas, .grdb, .raw, .floor, .ratioToRawWithOurPragmas, .ratioToGRDB] {
      try object.encodeNil(forKey: key)
    }
    try object.encode(hasReference ? smallest.flatMap { result.median($0) } : nil, forKey: .reference)
    try object.encode(hasReference ? smallest.map { "\($0.text) registered" } : nil, forKey: .referenceName)
    try object.encode(smallest.flatMap { result.figures[$0]?.spread }, forKey: .spread)
    try object.encode(result.ratio(at: id.size), forKey: .ratioToReference)
    try object.encode(GrowthOperation.target, forKey: .target)
    try object.encode(Target.ratioToReference(GrowthOperation.target).kind, forKey: .targetKind)
    try object.encode(false, forKey: .required)
    try object.encode(hasVerdict ? result.verdict?.rawValue : nil, forKey: .verdict)
    try object.encode(id.size.rawValue, forKey: .objects)
  }

  func write(to path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(self).write(to: URL(fileURLWithPath: path))
  }
}
