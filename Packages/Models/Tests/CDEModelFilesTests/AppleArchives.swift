@_spi(CDE) import CDEManagedModel
import Foundation

/// The archives of the fixtures, written as the binary property lists that they were.
enum AppleArchives {
  static func all() throws -> [Data] {
    try objects().map { archive in
      BinaryPropertyListWriter.data(
        .dictionary([
          "$version": .integer(100_000), "$archiver": .string("NSKeyedArchiver"),
          "$top": .dictionary(["root": .reference(1)]), "$objects": .array(archive),
        ]))
    }
  }

  static func objects() throws -> [[PropertyListNode]] {
    let url = Bundle.module.url(
      forResource: "mom-archives", withExtension: "json", subdirectory: "Fixtures")!
    let archives = try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as! [[String: Any]]
    return archives.map { ($0["$objects"] as! [Any]).map(node) }
  }

  private static func node(_ value: Any) -> PropertyListNode {
    switch value {
    case let text as String: return .string(text)
    case let members as [Any]: return .array(members.map(node))
    case let fields as [String: Any]:
      if let index = fields["uid"] as? Int { return .reference(index) }
      if let text = fields["base64"] as? String { return .data(Data(base64Encoded: text)!) }
      return .dictionary(fields.mapValues(node))
    case let number as NSNumber:
      switch UInt8(bitPattern: number.objCType.pointee) {
      case UInt8(ascii: "c"): return .bool(number.boolValue)
      case UInt8(ascii: "d"), UInt8(ascii: "f"): return .real(number.doubleValue)
      default: return .integer(number.int64Value)
      }
    default: return .null
    }
  }
}
