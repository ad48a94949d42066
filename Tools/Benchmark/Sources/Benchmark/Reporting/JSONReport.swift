import Foundation

/// The results for programs.
struct JSONReport: Encodable {
  let results: [RowResult]
  let isSmoke: Bool

  private enum Key: String, CodingKey {
    case row, ours, raw, grdb, unit, ratio, target, required, met
    case floor, targetByRaw, rawWithOurPragmas, ratioToRawWithOurPragmas, ratioToGRDB, targetKind, title
  }

  func encode(to encoder: any Encoder) throws {
    var list = encoder.unkeyedContainer()
    for result in results {
      // Unknown figures are written as null: every object has the same keys.
      var object = list.nestedContainer(keyedBy: Key.self)
      try object.encode(result.row.rawValue, forKey: .row)
      try object.encode(result.row.title, forKey: .title)
      try object.encode(result.ours, forKey: .ours)
      try object.encode(result.raw, forKey: .raw)
      try object.encode(result.rawTuned, forKey: .rawWithOurPragmas)
      try object.encode(result.grdb, forKey: .grdb)
      try object.encode(result.floor, forKey: .floor)
      try object.encode(result.row.unit, forKey: .unit)
      try object.encode(result.ratio, forKey: .ratio)
      try object.encode(result.ratioToTuned, forKey: .ratioToRawWithOurPragmas)
      try object.encode(result.ratioToGRDB, forKey: .ratioToGRDB)
      try object.encode(result.row.target.number, forKey: .target)
      try object.encode(result.targetByRaw, forKey: .targetByRaw)
      try object.encode(result.row.target.kind, forKey: .targetKind)
      try object.encode(result.row.isRequired, forKey: .required)
      try object.encode(isSmoke ? nil : result.isMet, forKey: .met)
    }
  }

  func write(to path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(self).write(to: URL(fileURLWithPath: path))
  }
}

extension RowID.Target {
  /// What the target limits: one of the ratios, or our figure itself.
  var kind: String {
    switch self {
    case .ratio: "ratio"
    case .ratioToGRDB: "ratioToGRDB"
    case .value: "value"
    case .time: "time"
    }
  }
}
