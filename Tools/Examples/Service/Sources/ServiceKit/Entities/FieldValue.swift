import CoreDataEvolution
import Hummingbird

/// The value of a field, in JSON and in queries.
enum FieldValue: Sendable, Equatable {
  case null
  case flag(Bool)
  case integer(Int)
  case text(String)
  case texts([String])
}

extension FieldValue: Decodable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? container.decode(Int.self) {
      self = .integer(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let texts = try? container.decode([String].self) {
      self = .texts(texts)
    } else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "A whole number, text, list of texts, true, false or null was expected.")
    }
  }
}

/// The fields that a request sets.
struct FieldValues: Sendable {
  let values: [String: FieldValue]

  /// - Throws: a ``Problem`` with status 400 for a body that is no object of such fields.
  init(_ body: ByteBuffer) throws {
    do {
      values = try JSONDecoder().decode([String: FieldValue].self, from: Data(body.readableBytesView))
    } catch let DecodingError.dataCorrupted(context) where !context.codingPath.isEmpty {
      let name = context.codingPath.map(\.stringValue).joined(separator: ".")
      throw Problem(.badRequest, "body", "The field \(name) can't be read. \(context.debugDescription)")
    } catch {
      throw Problem(.badRequest, "body", "The body is no JSON object. Send one with the fields to set.")
    }
  }
}
