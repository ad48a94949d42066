import CoreDataEvolution

@testable import ServiceKit

/// Reads server-sent events as a browser does.
final class EventReader: @unchecked Sendable {
  // Guard: one task at a time uses a reader.
  let head: HTTPConnection.Reply
  /// The client's place: what it sends as `Last-Event-ID` when it comes back.
  private(set) var lastID: String?
  private let connection: HTTPConnection
  private var text = ""

  struct Event: Sendable {
    var kind: String
    var data: String

    var json: [String: Any] {
      (try? JSONSerialization.jsonObject(with: Data(data.utf8))) as? [String: Any] ?? [:]
    }
    var resource: String { json["resource"] as? String ?? "" }
    var object: [String: Any]? { json["object"] as? [String: Any] }
    var name: String? { object?["name"] as? String }
    var changed: [String]? { json["changed"] as? [String] }
  }

  /// Follows the events from now, or from a place. Returns when the service knows the client.
  init(port: Int, _ query: String = "", after id: String? = nil) async throws {
    let connection = try HTTPConnection(port: port)
    self.connection = connection
    head = try await onOwnThread {
      try connection.write("GET", "/events\(query)", id.map { ["Last-Event-ID": $0] } ?? [:], nil)
      return try connection.readHead()
    }
    guard head.status == 200 else { return }
    // The first block has the place and no event.
    while lastID == nil { _ = try await block() }
  }

  /// - Returns: nil when the service has ended the stream.
  func next() async throws -> Event? {
    while let block = try await block() {
      if let event = block.event { return event }
    }
    return nil
  }

  private struct Block {
    var event: Event?
  }

  private func block() async throws -> Block? {
    while true {
      if let end = text.range(of: "\n\n") {
        let lines = text[..<end.lowerBound].split(separator: "\n")
        text.removeSubrange(..<end.upperBound)
        var kind = "message"
        var data: String?
        for line in lines where !line.hasPrefix(":") {
          let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
          let value = parts.count < 2 ? "" : String(parts[1].drop { $0 == " " })
          switch parts[0] {
          case "event": kind = value
          case "data": data = data.map { $0 + "\n" + value } ?? value
          case "id": lastID = value
          default: break
          }
        }
        return Block(event: data.map { Event(kind: kind, data: $0) })
      }
      guard let chunk = try await onOwnThread({ [connection] in try connection.readChunk() }) else {
        return nil
      }
      text += String(decoding: chunk, as: UTF8.self)
    }
  }
}
