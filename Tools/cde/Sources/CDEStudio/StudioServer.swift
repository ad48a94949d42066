public import CDEToolKit
import Foundation
import Hummingbird
import Logging

/// Serves the pages of `cde studio` to browsers of this machine.
public struct StudioServer: Sendable {
  let studio: Studio
  /// What the printed link contains, and a browser's cookie afterwards.
  public let token: String

  /// - Parameters:
  ///   - studio: what the pages show.
  ///   - token: the secret of the link; nil for a new one.
  public init(_ studio: Studio, token: String? = nil) {
    self.studio = studio
    self.token = token ?? Self.newToken()
  }

  private static func newToken() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<2).map { _ in String(generator.next() as UInt64, radix: 36) }.joined()
  }

  /// The link that opens the pages.
  public func link(port: Int) -> String { "http://127.0.0.1:\(port)/?token=\(token)" }

  /// Serves until the task is cancelled.
  ///
  /// - Parameters:
  ///   - port: the port on 127.0.0.1; 0 for one that is free.
  ///   - started: called with the port once browsers are answered.
  /// - Throws: ``ToolError`` if the port is in use.
  public func run(port: Int, started: @escaping @Sendable (Int) -> Void) async throws {
    let application = Application(
      router: router(),
      configuration: .init(address: .hostname("127.0.0.1", port: port), serverName: nil),
      onServerRunning: { channel in started(channel.localAddress?.port ?? port) },
      logger: Logger(label: "cde") { _ in SwiftLogNoOpLogHandler() })
    do { try await application.run() } catch {
      throw ToolError(
        "Port \(port) can't be used: \(error). Choose another one by --port, or 0 for a free one.")
    }
  }

  // MARK: Routes

  func router() -> Router<BasicRequestContext> {
    let router = Router(options: .autoGenerateHeadEndpoints)
    router.add(middleware: StudioGuard(token: token))
    for asset in StudioAsset.all {
      router.get(RouterPath(asset.path)) { _, _ in asset.response }
    }
    addReading(to: router)
    addWriting(to: router)
    router.get("/api/events") { _, _ in events() }
    return router
  }

  private func addReading(to router: Router<BasicRequestContext>) {
    let studio = studio
    func get(_ path: RouterPath, _ body: @escaping @Sendable (Studio, Parameters) throws -> JSONValue) {
      router.get(path) { request, _ in
        let parameters = Parameters(request)
        return await Self.answer { try body(studio, parameters) }
      }
    }
    get("/api/store") { studio, _ in try studio.overview() }
    get("/api/counts") { studio, _ in try studio.counts() }
    get("/api/rows") { studio, values in
      try studio.rows(
        try values.query(), at: values.number("at", 0), limit: min(values.number("limit", 100), 1000))
    }
    get("/api/count") { studio, values in try studio.count(try values.query()) }
    get("/api/object") { studio, values in
      try studio.object(try values.text("id"), members: values.number("members", 20))
    }
    get("/api/members") { studio, values in
      try studio.members(
        of: try values.text("id"), try values.text("name"), at: values.number("at", 0),
        limit: min(values.number("limit", 100), 1000))
    }
    get("/api/history") { studio, values in try studio.history(of: try values.text("id")) }
    get("/api/find") { studio, values in
      try studio.find(
        values["text"] ?? "", entity: values["entity"], limit: min(values.number("limit", 8), 100))
    }
    get("/api/complete") { studio, values in
      try studio.completions(of: values["text"] ?? "", entity: try values.text("entity"))
    }
    get("/api/commits") { studio, values in try studio.commits(limit: min(values.number("limit", 100), 1000))
    }
    get("/api/commit") { studio, values in try studio.commit(values.number("number", 0)) }
    get("/api/queries") { studio, _ in try studio.slowQueries() }
    get("/api/plan") { studio, values in try studio.plan(values.number("number", 0)) }
    get("/api/undo") { studio, _ in try studio.undoState() }
    router.get("/api/diagram") { request, _ in
      let showsAttributes = Parameters(request)["attributes"] != "no"
      do {
        let text = try await Studio.blocking { try studio.diagram(showsAttributes: showsAttributes) }
        return StudioAsset.response(Array(text.utf8), "image/svg+xml")
      } catch { return Self.failure(error) }
    }
    router.get("/api/value") { request, _ in
      let values = Parameters(request)
      do {
        let (id, name) = (try values.text("id"), try values.text("name"))
        return Self.bytes(try await Studio.blocking { try studio.bytes(of: id, name) })
      } catch { return Self.failure(error) }
    }
  }

  private func addWriting(to router: Router<BasicRequestContext>) {
    let studio = studio
    func post(_ path: RouterPath, _ body: @escaping @Sendable (Studio, JSONValue) throws -> JSONValue) {
      router.post(path) { request, _ in
        guard studio.isWritable else {
          return Self.failure(
            StudioFailure(
              .refused, "The store is open for reading only. Start `cde studio` with --write to change it."))
        }
        let buffer = try await request.body.collect(upTo: 20_000_000)
        let data = Data(buffer.readableBytesView)
        return await Self.answer {
          let json: JSONValue
          do { json = try JSONValue(reading: data) } catch {
            throw StudioFailure(.wrong, ToolError(error).message)
          }
          return try body(studio, json)
        }
      }
    }
    post("/api/edit") { studio, json in try studio.edit(try StudioEdit(json)) }
    post("/api/undo") { studio, _ in try studio.undo() }
    post("/api/redo") { studio, _ in try studio.redo() }
  }

  // MARK: Answers

  private static func answer(_ body: @escaping @Sendable () throws -> JSONValue) async -> Response {
    do {
      let text = try await Studio.blocking { try body().text(indented: false) }
      return StudioAsset.response(Array(text.utf8), "application/json")
    } catch { return failure(error) }
  }

  private static func failure(_ error: any Error) -> Response {
    let failure = StudioFailure(error)
    return StudioAsset.response(
      Array(failure.json.text(indented: false).utf8), "application/json",
      status: HTTPResponse.Status(code: failure.kind.rawValue))
  }

  /// A value's bytes: a picture as one, everything else as a file, which a browser does not open as a page.
  private static func bytes(_ data: Data) -> Response {
    let kinds: [([UInt8], String)] = [
      ([0x89, 0x50, 0x4E, 0x47], "image/png"), ([0xFF, 0xD8, 0xFF], "image/jpeg"),
      ([0x47, 0x49, 0x46, 0x38], "image/gif"),
    ]
    let kind = kinds.first { data.starts(with: $0.0) }?.1
    var response = StudioAsset.response(Array(data), kind ?? "application/octet-stream")
    if kind == nil { response.headers[.contentDisposition] = "attachment" }
    return response
  }

  /// The commits as they happen. A line now and then finds out whether the browser is still there.
  private func events() -> Response {
    let studio = studio
    let body = ResponseBody { writer in
      let (lines, continuation) = AsyncStream.makeStream(
        of: String.self, bufferingPolicy: .bufferingNewest(100))
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try await studio.follow { continuation.yield("data: \($0.text(indented: false))\n\n") }
        }
        group.addTask {
          while true {
            try await Task.sleep(for: .seconds(5))
            continuation.yield(":\n\n")
          }
        }
        defer { group.cancelAll() }
        for await line in lines { try await writer.write(ByteBuffer(string: line)) }
      }
      try await writer.finish(nil)
    }
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
  }
}

/// The values behind the question mark of a request.
private struct Parameters: Sendable {
  private var values: [String: String] = [:]

  init(_ request: Request) {
    for (name, value) in request.uri.queryParameters { values[String(name)] = String(value) }
  }

  subscript(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

  func text(_ name: String) throws -> String {
    guard let value = self[name] else { throw ToolError("The request lacks \(name).", .usage) }
    return value
  }

  func number(_ name: String, _ standard: Int) -> Int {
    // Far from the end of the range, because the pages add to it.
    self[name].flatMap(Int.init).map { min(max(0, $0), 1 << 60) } ?? standard
  }

  func query() throws -> StudioQuery {
    var query = StudioQuery(entity: try text("entity"))
    query.predicate = self["where"] ?? ""
    query.sort = (self["sort"] ?? "").split(separator: ",").map(String.init)
    query.owner = self["of"]
    return query
  }
}
