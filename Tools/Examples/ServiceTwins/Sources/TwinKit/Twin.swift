import Foundation
import Hummingbird
import Logging

/// The three measured requests of the service, over any database.
package struct Twin<Database: PackageDatabase>: Sendable {
  private let database: Database

  package init(_ database: Database) { self.database = database }

  /// Serves requests until a signal ends the program.
  package func serve(port: Int, name: String) async throws {
    let router = Router(context: BasicRequestContext.self)
    router.get("/versions/:key") { _, context in try await version(context) }
    router.get("/versions") { request, _ in try await page(request) }
    router.post("/packages") { request, _ in try await add(request) }
    var logger = Logger(label: name)
    logger.logLevel = .error
    let server = Application(
      router: router, server: .http1(configuration: .init(idleTimeout: .seconds(75))),
      configuration: ApplicationConfiguration(
        address: .hostname("127.0.0.1", port: port), serverName: name, backlog: 1_024),
      onServerRunning: { channel in
        print("Serving \(name) at http://127.0.0.1:\(channel.localAddress?.port ?? 0)")
        fflush(nil)
      },
      logger: logger)
    try await server.runService()
  }

  private func version(_ context: BasicRequestContext) async throws -> Response {
    guard let key = context.parameters.get("key")?.removingPercentEncoding,
      let row = try await database.version(key)
    else { throw HTTPError(.notFound) }
    var json = JSONText()
    json.version(row, isDetail: true)
    return answer(.ok, json, [.eTag: json.tag(id: row.id, revision: row.revision)])
  }

  private func page(_ request: Request) async throws -> Response {
    let query = request.uri.queryParameters
    let limit = query["limit"].flatMap { Int($0) } ?? 50
    guard (1...200).contains(limit) else { throw HTTPError(.badRequest) }
    let from = query["key.ge"].map(String.init)
    var start = PageStart.from(from ?? "")
    if let after = query["after"] {
      guard let cursor = Cursor(String(after)) else { throw HTTPError(.badRequest) }
      start = .after(cursor.key)
    }
    var rows = try await database.versions(start, limit: limit + 1)
    var next: String?
    if rows.count > limit {
      rows.removeLast()
      let filter = from.map { "&key.ge=\($0.escaped)" } ?? ""
      next = try rows.last.map {
        "/versions?limit=\(limit)\(filter)&after=\(try Cursor(key: $0.key).text)"
      }
    }
    var json = JSONText()
    json.raw("{\"items\":[")
    for (index, row) in rows.enumerated() {
      if index > 0 { json.raw(",") }
      json.version(row, isDetail: false)
    }
    json.raw("],\"next\":")
    json.text(next)
    json.raw("}")
    return answer(.ok, json, next.map { [.link: "<\($0)>; rel=\"next\""] } ?? [:])
  }

  private func add(_ request: Request) async throws -> Response {
    var request = request
    let body = try await request.collectBody(upTo: 1 << 20)
    guard let fields = try? JSONDecoder().decode(PackageFields.self, from: Data(body.readableBytesView))
    else { throw HTTPError(.badRequest) }
    guard !fields.name.isEmpty else { throw HTTPError(.unprocessableContent) }
    guard let id = try await database.addPackage(fields.name) else { throw HTTPError(.conflict) }
    var json = JSONText()
    json.raw("{\"id\":\"p")
    json.number(id)
    json.raw("\",\"name\":")
    json.text(fields.name)
    json.raw(",\"versions\":[],\"providers\":[]}")
    return answer(
      .created, json, [.eTag: json.tag(id: id, revision: 1), .location: "/packages/\(fields.name.escaped)"])
  }

  private func answer(_ status: HTTPResponse.Status, _ json: JSONText, _ headers: HTTPFields) -> Response {
    var headers = headers
    headers[.contentType] = "application/json"
    return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: json.buffer))
  }
}

/// The body of a request for a new package.
private struct PackageFields: Decodable {
  var name: String
}

/// The last key of a page, as the service writes it into the address of the next one.
private struct Cursor: Codable {
  var key: String

  init(key: String) { self.key = key }

  init?(_ text: String) {
    let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - base64.count % 4) % 4)
    guard let data = Data(base64Encoded: base64 + padding),
      let cursor = try? JSONDecoder().decode(Cursor.self, from: data)
    else { return nil }
    self = cursor
  }

  var text: String {
    get throws {
      try JSONEncoder().encode(self).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: "")
    }
  }
}

extension String {
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  fileprivate var escaped: String { addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? "" }
}

extension HTTPFields.Element.Name {
  fileprivate static let link = Self("Link")!
}
