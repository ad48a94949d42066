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
    if case .string(let id)? = json["id"] {
      kind = .update(id: id)
    } else if case .string(let entity)? = json["entity"] {
      kind = .insert(entity: entity)
    } else if let list = json["delete"], case let ids = try Self.ids(list, "delete"), !ids.isEmpty {
      kind = .delete(ids: ids)
    } else {
      throw StudioFailure(
        .wrong, "The request names no object. It has to have \"id\", \"entity\" or \"delete\".")
    }
    if case .object(let members)? = json["values"] { values = members } else { values = [] }
    known = json["was"] ?? .object([])
  }

  /// The IDs of a list; none for a list that is missing.
  ///
  /// - Throws: ``StudioFailure`` for another value.
  static func ids(_ json: JSONValue?, _ name: String) throws -> [String] {
    guard let json, json != .null else { return [] }
    guard case .array(let values) = json else {
      throw StudioFailure(.wrong, "\(name) has to be a list of IDs.")
    }
    return try values.map { value in
      guard case .string(let id) = value else {
        throw StudioFailure(.wrong, "\(name) has to be a list of IDs.")
      }
      return id
    }
  }
}
