import Foundation

/// A change that a page asks for. It becomes one commit, and one step of undo.
public struct StudioEdit: Sendable {
  enum Kind: Sendable {
    case update(id: String)
    case insert(entity: String)
    case delete(ids: [String])
  }

  let kind: Kind
  /// New values by property. Text or null for an attribute, an object of texts for a composite, an ID or null for a relationship to
  /// one, and for a relationship to many an object with lists of IDs: `add`, `remove`, and `order` for all members in their order.
  let values: [JSONValue.Member]
  /// The values of the same properties that the page showed.
  let known: JSONValue

  /// Reads the body of a request.
  ///
  /// - Throws: ``StudioFailure`` for another document.
  public init(_ json: JSONValue) throws {
    func texts(_ value: JSONValue?) -> [String]? {
      guard case .array(let values)? = value else { return nil }
      return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }
    if case .string(let id)? = json["id"] {
      kind = .update(id: id)
    } else if case .string(let entity)? = json["entity"] {
      kind = .insert(entity: entity)
    } else if let ids = texts(json["delete"]), !ids.isEmpty {
      kind = .delete(ids: ids)
    } else {
      throw StudioFailure(
        .wrong, "The request names no object. It has to have \"id\", \"entity\" or \"delete\".")
    }
    if case .object(let members)? = json["values"] { values = members } else { values = [] }
    known = json["was"] ?? .object([])
  }

  static func ids(_ json: JSONValue?) -> [String] {
    guard case .array(let values)? = json else { return [] }
    return values.compactMap { if case .string(let id) = $0 { id } else { nil } }
  }
}
